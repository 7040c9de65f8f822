import pytest

from discorag.schema.values import Span
from eval.metrics.base import Given
from eval.metrics.grounding import GoldPrecision, GoldUsed, Supported, touches
from eval.metrics.registry import PLAIN
from eval.sample import DocSpan, Gold, Sample


def at(start: int, end: int, doc: str = "d") -> DocSpan:
    return DocSpan(doc=doc, span=Span(start=start, end=end))


def given(used: list[DocSpan], gold: list[Gold], unsupported: float | None = None) -> Given:
    sample = Sample(id="s", query="q", gold=tuple(gold))
    return Given(sample=sample, documents={}, answer="a", used=tuple(used), unsupported=unsupported)


A, B = Gold(label="a", anywhere=(at(0, 100),)), Gold(label="b", anywhere=(at(200, 300), at(0, 50, "e")))


@pytest.mark.parametrize(
    ("other", "same"),
    [(at(80, 200), True), (at(81, 200), False), (at(95, 100), True), (at(0, 100, "e"), False), (at(100, 130), False)],
)
def test_two_stretches_are_one_place_if_they_share_20_characters_or_all_of_the_shorter(
    other: DocSpan, same: bool
) -> None:
    assert touches(at(0, 100), other) is same
    assert touches(other, at(0, 100)) is same


async def test_gold_used_counts_pieces_and_gold_precision_stretches() -> None:
    assert await GoldUsed().score(given([at(10, 60)], [A, B])) == 50.0  # a of {a, b}
    assert await GoldUsed().score(given([at(0, 50, "e"), at(210, 290)], [A, B])) == 50.0  # b twice
    assert await GoldUsed().score(given([], [A])) == 0.0
    everything = PLAIN["gold_all_used"]
    assert await everything.score(given([at(10, 60)], [A, B])) == 0.0
    assert await everything.score(given([at(10, 60), at(210, 290)], [A, B])) == 100.0
    assert await everything.score(given([], [])) is None
    used = [at(0, 40), at(500, 600), at(210, 290), at(700, 800)]
    assert await GoldPrecision().score(given(used, [A, B])) == 50.0  # 2 of 4
    assert await GoldPrecision().score(given([], [A])) == 0.0
    assert await Supported().score(given([], [], 0.25)) == 75.0
