"""The examples that the model of support learns from: what edits change, what they keep, and who is on which side."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.verify import edits
from training.verify.sources import Pair, held_out

EVIDENCE = (
    "The tenant may withhold rent after fourteen days. The landlord may appeal to the court before June, "
    "because Mr Hale and Ms Moss did not agree in 1926."
)


def rng() -> random.Random:
    return random.Random(3)


@pytest.mark.parametrize(
    ("editor", "sentence", "expected"),
    [
        (edits.stitched, "The tenant may withhold rent.", "The landlord may withhold rent."),
        (
            edits.turned,
            "The eels died out because the weir was raised.",
            "The weir was raised because the eels died out.",
        ),
        (edits.turned, "The back pain led to the poor sleep.", "The poor sleep led to the back pain."),
        (edits.swapped_by(edits.NAME), "We saw Hale before Moss.", "We saw Moss before Hale."),
        (edits.negated, "They did not agree.", "They agree."),
        (edits.unconditional, "The machine works well if both agree to it.", "The machine works well."),
    ],
)
def test_an_edit_changes_what_it_says(editor: edits.Editor, sentence: str, expected: str) -> None:
    assert editor(EVIDENCE, sentence, rng()) == expected


@given(st.text(max_size=80), st.integers(0, 50))
def test_no_sentence_is_too_odd_to_be_edited_and_no_edit_is_called_supported(sentence: str, seed: int) -> None:
    found = edits.edited(EVIDENCE, sentence, random.Random(seed))
    assert all(not e.supported and e.sentence != sentence for e in found)
    assert len({e.edit for e in found}) == len(found)


def test_a_speaker_who_is_dropped_or_exchanged_is_unsupported_and_one_who_is_kept_is_not() -> None:
    sentence = "The tenant may withhold rent after fourteen days."
    kept, *others = edits.limited(EVIDENCE, sentence, rng())
    assert kept.supported
    assert [e.supported for e in others] == [False, False]
    assert {e.evidence for e in others} == {kept.evidence}
    assert sentence == others[0].sentence


def test_what_keeps_the_meaning_stays_supported() -> None:
    [found] = edits.kept(EVIDENCE, "In 1926, the two did not agree on the rent.", rng())
    assert (found.sentence, found.supported) == ("The two did not agree on the rent in 1926.", True)


def test_a_group_is_held_out_as_a_whole() -> None:
    pairs = [Pair("mnli", "p", "e", s, supported) for s, supported in (("a", True), ("b", False))]
    assert {p.held_out for p in pairs} == {held_out("mnli", "p")}
    share = sum(held_out("mnli", str(i)) for i in range(2000)) / 2000
    assert 0.2 < share < 0.3
