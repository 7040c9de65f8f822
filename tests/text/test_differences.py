"""Which words of two sentences are marked as differing."""

import pytest

from discorag.text.differences import differing_words

CASES: list[tuple[str, str, tuple[list[str], list[str]]]] = [
    (
        "Refunds are paid to the original card by Anna Berg.",
        "Refunds are paid to the original card by Carl Holm.",
        (["Anna Berg"], ["Carl Holm"]),
    ),
    ("Items can be returned.", "Items can not be returned.", ([], ["not"])),
    (
        "Daily vitamin D lowered the incidence of influenza by 12 % in deficient adults.",
        "Across all trials, supplements had no effect on it, and 3 didn't end.",
        (["12 %"], ["no", "3", "didn't"]),
    ),
    ("Die Flut kommt.", "Die Flut kommt.", ([], [])),
    ("", "One.", ([], [])),
]


@pytest.mark.parametrize(("one", "other", "marked"), CASES)
def test_of_alike_sentences_what_differs_is_marked_and_of_others_figures_and_negations(
    one: str, other: str, marked: tuple[list[str], list[str]]
) -> None:
    found = differing_words(one, other)
    assert tuple([span.of(text) for span in spans] for spans, text in zip(found, (one, other), strict=True)) == marked
