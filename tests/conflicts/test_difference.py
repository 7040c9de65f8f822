"""What a report of a disagreement says that the two sentences differ in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.conflicts.difference import differences


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
