"""Marks of ours are removed from a model's text; those of a source stay. Cut prose ends with a whole sentence."""

import pytest
from hypothesis import given

from discorag.discourse.parse.inline import mark
from discorag.generation.prompted.prose import marks_left, strip_marks
from discorag.schema.discourse import RstTree
from discorag.text.replies import whole_sentences
from tests.strategies import parsed_texts

_LETTERS = str.maketrans(dict.fromkeys("{}&<>`[", "x"))  # what only a source of its own marks would hold
PASSAGE = "The shelf that holds vitamin D stands in the hall, because the cellar is damp. It was built in 1904."


@given(parsed_texts())
def test_of_a_passage_copied_as_it_was_shown_no_mark_is_left(case: tuple[str, RstTree, int]) -> None:
    text, tree, offset = case
    text = text.translate(_LETTERS)
    assert not marks_left(strip_marks(mark(text, tree, offset=offset), [text]), [text])


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The shelf {6<elab}that holds vitamin D", "The shelf that holds vitamin D"),
        ("The shelf { 6 < elab } that holds vitamin D", "The shelf that holds vitamin D"),
        (
            "the hall, {2&lt;expl}because the cellar is damp [1]. {1=join}It was",
            "because the cellar is damp [1]. It was",
        ),
        ("{1=join}It was built in 1904.", "It was built in 1904."),
        ("<plan>\nIt was built in 1904.\n</plan>", "It was built in 1904."),
        ('<chunk id="1" source="Hall">\nIt was built in 1904.\n</chunk>', "It was built in 1904."),
        ("```text\nIt was built in 1904.\n```", "It was built in 1904."),
        ("The shelf [...] stands in the hall.", "The shelf … stands in the hall."),
        ("Damp &amp; dark, 1 &lt; 2", "Damp & dark, 1 < 2"),
    ],
)
def test_what_is_ours_goes(said: str, shown: str) -> None:
    assert strip_marks(said, [PASSAGE]).endswith(shown)


@pytest.mark.parametrize(
    "own", ["a {1<elab}b", "run {1<elab}", "write &amp; for &", "see <chunk id=1>", "so [...] he said"]
)
def test_what_a_source_writes_itself_stays(own: str) -> None:
    assert strip_marks(f"They {own} again.", [f"They {own}\nagain."]) == f"They {own} again."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("One [1]. Two [2]. And if", "One [1]. Two [2]."),
        ("One [1]. Two [2].", "One [1]. Two [2]."),
        ("第一句。第二句。如果", "第一句。第二句。"),
    ],
)
def test_prose_is_kept_up_to_its_last_whole_sentence(text: str, kept: str) -> None:
    assert whole_sentences(text) == kept


@pytest.mark.parametrize("text", ["", "And if the", "And if the 3.5"])
def test_prose_without_a_whole_sentence_is_not_kept(text: str) -> None:
    with pytest.raises(ValueError, match="sentence"):
        whole_sentences(text)
