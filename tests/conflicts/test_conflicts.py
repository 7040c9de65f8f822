"""In what two passages differ, opposite effects, and versions of one document."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.conflicts.claims.effects import Direction, claim_of
from discorag.conflicts.difference import differences
from discorag.conflicts.versions import newer
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from tests.conftest import Pipelines


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ("It fell by 12 %.", "It fell by 8 %.", ["figure: 12 % / 8 %"]),
        ("It took 90 days.", "It took three months.", []),
        ("It opened in 1931.", "It opened in 1934.", ["date: 1931 / 1934"]),
        ("It does not work.", "It works.", ["polarity: not / "]),
        ("It raises the risk.", "It lowers the risk.", ["polarity: raises / lowers"]),
        ("In adults it works.", "It works in everyone.", ["condition: In adults / everyone"]),
        ("Dr Vasse says that it works.", "It works.", ["speaker: Dr Vasse says / "]),
        ("It works.", "It works.", []),
    ],
)
def test_a_difference_is_said_in_the_words_of_both(a: str, b: str, found: list[str]) -> None:
    assert [f"{d.kind}: {d.a} / {d.b}" for d in differences(a, b)] == found


WORDS = st.lists(
    st.sampled_from(["it", "not", "lowers", "raises", "12", "%", "1931", "only", "says", "in", "adults", "everyone"]),
    max_size=9,
)


@given(WORDS, WORDS)
def test_the_other_way_round_the_same_differs_with_its_sides_exchanged(a: list[str], b: list[str]) -> None:
    one, other = differences(" ".join(a), " ".join(b)), differences(" ".join(b), " ".join(a))
    assert {(d.kind, d.a, d.b) for d in one} == {(d.kind, d.b, d.a) for d in other}


@pytest.mark.parametrize(
    ("sentence", "direction"),
    [
        ("Daily vitamin D lowered the incidence of influenza by 12 %.", Direction.DOWN),
        ("Supplements had no significant effect on the incidence of influenza.", Direction.NONE),
        ("The evidence does not show that vitamin D prevents influenza.", Direction.NONE),
        ("The later start raised average attendance.", Direction.UP),
        ("Attendance was unchanged.", Direction.NONE),
        ("Does vitamin D prevent influenza?", None),
        ("Vitamin D might prevent influenza.", None),
        ("A slow cycle raises and lowers the range.", None),
        ("Vitamin D is a compound.", None),
        ("服用维生素D没有降低流感的发病率。", Direction.NONE),
        ("服用维生素D降低了流感的发病率。", Direction.DOWN),
    ],
)
def test_a_sentence_claims_a_direction_only_when_it_states_one(sentence: str, direction: Direction | None) -> None:
    claim = claim_of(sentence)
    assert (claim.direction if claim else None) is direction


def chunk(title: str, date: str) -> Chunk:
    whole = Span(start=0, end=2)
    return Chunk(
        id=title, doc_id=title, order=0, span=whole, text="No", sentences=(whole,), title=title, metadata={"date": date}
    )


@pytest.mark.parametrize(
    ("a", "b", "later"),
    [
        (("Fees 2025", "2025-01-01"), ("Fees 2024", "2024-01-01"), 1),
        (("Handbook v1.2", "2024-01-01"), ("Handbook v1.10", "2025-01-01"), -1),
        (("Fees", "2025-01-01"), ("Fees", "2025-01-01"), 0),
        (("Part 1", "2024-01-01"), ("Part 2", "2025-01-01"), 0),
        (("C++", "2024-01-01"), ("C#", "2025-01-01"), 0),
        (("Fees", "12/01/2024"), ("Fees", "01/02/2025"), 0),
        (("Fees", ""), ("Fees", "2025-01-01"), 0),
    ],
)
def test_a_version_is_newer_by_its_date_under_one_title(a: tuple[str, str], b: tuple[str, str], later: int) -> None:
    assert newer(chunk(*a), chunk(*b)) == later
    assert newer(chunk(*b), chunk(*a)) == -later


async def test_a_newer_version_of_a_document_replaces_what_the_older_says(pipeline: Pipelines, tmp_path: Path) -> None:
    for year, fee in ((2024, 20), (2025, 35)):
        body = f"A lost card is replaced once. The fee for a new library card is {fee} dollars."
        text = f"---\ntitle: Fees {year}\ndate: {year}-01-01\n---\n\n{body}\n"
        (tmp_path / f"fees-{year}.md").write_text(text, "utf-8")
    rag = pipeline()
    await rag.aingest(tmp_path, parser="none")
    result = await rag.aask("What is the fee for a new library card?", parser="rules")
    assert result.answer.sentences[0].text.endswith("35 dollars.")
    [found] = result.answer.disagreements
    assert (str(found.relation), found.b.title, [str(d.kind) for d in found.differs]) == (
        "REPLACES",
        "Fees 2025",
        ["figure"],
    )
