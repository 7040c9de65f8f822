"""The parser without a model: its trees follow paragraphs, headings and markers."""

from __future__ import annotations

import pytest
from hypothesis import given

from discorag.discourse.parse.parser import TreeParser
from discorag.discourse.parse.rules import VERSION, RightBranchingParser, RuleParser, rule_tree
from discorag.schema.chunk import Chunk
from discorag.schema.span import Span
from discorag.schema.usage import Usage
from discorag.text.sentences import sentence_spans
from tests.strategies import chunks, texts


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
def test_the_edus_are_exactly_the_sentences(chunk: Chunk):
    assert rule_tree(chunk).edus == chunk.sentences


@given(texts)
def test_any_text_that_has_sentences_gets_a_tree(text: str):
    if sentence_spans(text):
        assert rule_tree(_chunk(text)).edus == sentence_spans(text, offset=7)


@given(chunks())
def test_the_same_chunk_gets_the_same_tree(chunk: Chunk):
    assert rule_tree(chunk) == rule_tree(chunk.model_copy())


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("Only one.", "a"),
        ("It rains. It pours. He snores.", "(a ELABORATION=NS (b ELABORATION=NS c))"),
        ("It rains. It pours. However, he snores.", "((a ELABORATION=NS b) CONTRAST=NN c)"),
        ("Metals burn. For example, sodium does. Gold stays.", "((a EXAMPLE=NS b) ELABORATION=NS c)"),
        ("Metals burn.\n\nGold stays. In fact it shines.", "(a JOINT=NN (b ELABORATION=NS c))"),
        ("One is odd. Two is even.\n\nIn short, they differ.", "((a ELABORATION=NS b) SUMMARY=NS c)"),
        ("It is so. In short, it is.\n\nFor example, here.", "((a SUMMARY=NS b) EXAMPLE=NS c)"),
        ("One.\n\nTwo.\n\nIn short, both.", "((a JOINT=NN b) SUMMARY=NS c)"),
        (
            "It takes three steps. First, mix. It foams. Then wait. Finally, pour.",
            "(a ELABORATION=NS ((b ELABORATION=NS c) SEQUENCE=NN (d SEQUENCE=NN e)))",
        ),
        (
            "First, mix. Then wait. However, it foams. Overall, it works.",
            "((a SEQUENCE=NN (b CONTRAST=NN c)) SUMMARY=NS d)",
        ),
        ("# Gold\n\nIt shines. It lasts.", "(a BACKGROUND=SN (b ELABORATION=NS c))"),
        ("Uses of gold\n\nIt shines.\n\nIt lasts.", "(a BACKGROUND=SN (b JOINT=NN c))"),
        (
            "# Metals\n\n## Gold\n\nIt shines.\n\n## Iron\n\nIt rusts.",
            "(a BACKGROUND=SN ((b BACKGROUND=SN c) JOINT=NN (d BACKGROUND=SN e)))",
        ),
        ("It shines.\n\n# Iron\n\nHowever, it rusts.", "(a JOINT=NN (b BACKGROUND=SN c))"),
        ("下雨了。但是他去了。因此他湿了。", "(a CONTRAST=NN (b RESULT=NS c))"),
    ],
)
def test_paragraphs_headings_and_markers_shape_the_tree(text: str, shape: str):
    assert _shape(_chunk(text)) == shape


@pytest.mark.parametrize("opening", ["A full sentence.", "- a list item", "A lead-in:", "word " * 30 + "end"])
def test_a_paragraph_that_is_no_title_is_no_background(opening: str):
    assert _shape(_chunk(f"{opening}\n\nIt shines.")) == "(a JOINT=NN b)"


async def test_it_is_a_parser_that_costs_nothing():
    parser: TreeParser = RuleParser()
    parsed = await parser.parse(_chunk("It rains. It pours."))
    assert parser.version == VERSION
    assert (parsed.usage, parsed.prompt_hash) == (Usage(), "")
    assert len(parsed.tree.edus) == 2


async def test_the_control_elaborates_every_sentence_by_all_that_follows():
    text = "One stands. Two follows. However, three differs."
    spans = sentence_spans(text)
    whole = Span(start=0, end=len(text))
    chunk = Chunk(id="c", doc_id="d", order=0, span=whole, text=text, sentences=spans)
    tree = (await RightBranchingParser().parse(chunk)).tree
    assert [(s.start, s.mid, s.end) for s in tree.splits] == [(0, 1, 3), (1, 2, 3)]
    assert tree.satellite_depth == (0, 1, 2)
