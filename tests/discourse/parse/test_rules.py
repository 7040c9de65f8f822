"""The parser by rules."""

import pytest
from hypothesis import given

from discorag.discourse.parse.rules import rule_tree
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from tests.strategies import chunks


def _chunk(text: str, *, offset: int = 7) -> Chunk:
    sentences = sentence_spans(text, offset=offset)
    ends = [s.end - offset for s in sentences]
    starts = [i for i in range(1, len(sentences)) if "\n\n" in text[ends[i - 1] : sentences[i].start - offset]]
    span = Span(start=offset, end=offset + len(text))
    return Chunk(id="c", doc_id="d", order=0, span=span, text=text, sentences=sentences, paragraph_starts=tuple(starts))


def _shape(chunk: Chunk) -> str:
    """The tree as nested brackets over one-letter EDUs: ``(a CONTRAST=NN b)``."""
    tree = rule_tree(chunk)

    def show(start: int, end: int) -> str:
        if end - start == 1:
            return "abcdefghij"[start]
        s = tree.split_at(start, end)
        return f"({show(start, s.mid)} {s.relation}={s.nuclearity} {show(s.mid, end)})"

    return show(0, len(tree.edus))


@given(chunks())
def test_the_edus_are_exactly_the_sentences_and_every_parse_gives_the_same_tree(chunk: Chunk):
    assert rule_tree(chunk).edus == chunk.sentences
    assert rule_tree(chunk) == rule_tree(chunk.model_copy())


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("Only one.", "a"),
        ("It rains. It pours. He snores.", "(a ELABORATION=NS (b ELABORATION=NS c))"),
        ("Metals burn.\n\nGold stays. In fact it shines.", "(a JOINT=NN (b ELABORATION=NS c))"),
        ("# Gold\n\nIt shines. It lasts.", "(a BACKGROUND=SN (b ELABORATION=NS c))"),
        ("Uses of gold\n\nIt shines.\n\nIt lasts.", "(a BACKGROUND=SN (b JOINT=NN c))"),
        (
            "# Metals\n\n## Gold\n\nIt shines.\n\n## Iron\n\nIt rusts.",
            "(a BACKGROUND=SN ((b BACKGROUND=SN c) JOINT=NN (d BACKGROUND=SN e)))",
        ),
        ("It shines.\n\n# Iron\n\nHowever, it rusts.", "(a JOINT=NN (b BACKGROUND=SN c))"),
        ("下雨了。但是他去了。\n\n因此他湿了。", "((a ELABORATION=NS b) JOINT=NN c)"),
    ],
)
def test_paragraphs_and_headings_shape_the_tree(text: str, shape: str):
    assert _shape(_chunk(text)) == shape


@pytest.mark.parametrize("opening", ["A full sentence.", "- a list item", "A lead-in:", "word " * 30 + "end"])
def test_a_paragraph_that_is_no_title_is_no_background(opening: str):
    assert _shape(_chunk(f"{opening}\n\nIt shines.")) == "(a JOINT=NN b)"
