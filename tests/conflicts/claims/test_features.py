"""Quantities and words of two texts side by side."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discorag.conflicts.claims.alignment import aligned, text_of
from discorag.conflicts.claims.features import NAMES, missing_figures, seen
from discorag.conflicts.claims.quantities import quantities

MILL = "The mill opened in 1846, but its tolls were not lifted until 1903."


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("It took 90 days.", "It took three months."),
        ("Twelve percent fell ill.", "12 % fell ill."),
        ("It cost 1.5 million dollars.", "It cost $1,500,000."),
        ("One third was lost.", "About a third was lost."),
        ("A distance of 2 kilometers.", "2,000 metres away."),
        ("One hundred and five came.", "105 came."),
    ],
)
def test_a_quantity_is_the_same_in_words_digits_and_other_units(said: str, there: str) -> None:
    assert missing_figures(said, there) == []


@pytest.mark.parametrize(
    ("said", "there", "missing"),
    [
        ("It took 90 weeks.", "It took 90 days.", "90 weeks"),
        ("14 billion dollars.", "14 million dollars.", "14 billion dollars"),
        ("It rose by 21 %.", "It rose by 12 %.", "21 %"),
        ("In 1864 it opened.", MILL, "1864"),
        ("Three quarters were lost.", "A quarter was lost.", "Three quarters"),
    ],
)
def test_a_quantity_with_another_value_or_unit_is_missing(said: str, there: str, missing: str) -> None:
    assert missing_figures(said, there) == [missing]


@given(st.text(max_size=60))
def test_any_text_has_quantities_and_features(text: str) -> None:
    assert all(q.text for q in quantities(text))
    assert seen(text, MILL).numbers.shape == seen(MILL, text).numbers.shape == (len(NAMES),)


@given(
    st.lists(
        st.sampled_from(["mill", "tolls", "opened", "in", "but", "not", "lifted", "until", "1903"]),
        min_size=1,
        max_size=12,
    )
)
def test_words_are_aligned_to_words_of_the_other_text(words: list[str]) -> None:
    said, there = text_of(" ".join(words)), text_of(MILL)
    found = aligned(said, there)
    assert ((found.at >= 0) & (found.at < len(there.words))).all()
    assert ((found.alike >= 0) & (found.alike <= 1)).all()
    assert (found.alike[np.arange(len(words)), [there.lower.index(w) for w in said.lower]] == 1).all()


def test_of_a_word_that_stands_twice_the_one_with_the_same_neighbours_is_meant() -> None:
    there = text_of("The old bridge fell in spring, and in autumn the new bridge opened.")
    assert aligned(text_of("The new bridge opened."), there).at.tolist()[2] == there.words.index("new") + 1


def test_a_negation_of_one_side_only_is_counted() -> None:
    numbers = dict(zip(NAMES, seen("Its tolls were lifted.", "Its tolls were not lifted.").numbers, strict=True))
    assert (numbers["denied"], numbers["undenied"]) == (0, 1)
    numbers = dict(zip(NAMES, seen("Its tolls were not lifted.", "Its tolls were never lifted.").numbers, strict=True))
    assert (numbers["denied"], numbers["undenied"]) == (0, 0)


def test_what_differs_is_told_word_by_word() -> None:
    assert {"+always", "-often", "often>always"} <= seen("It always rained.", "It often rained.").cues
