"""The parser by rules, and the discourse markers that it reads."""

from __future__ import annotations

import pytest
from hypothesis import given

from discorag.discourse.parse.rules import MARKERS, RightBranchingParser, opening, rule_tree
from discorag.schema.discourse import Nuclearity, Relation
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from tests.strategies import chunks


@pytest.mark.parametrize(
    ("sentence", "relation", "nuclearity"),
    [
        ("However, the effect was small.", "CONTRAST", "NN"),
        ("Although it rained, we went.", "CONCESSION", "NS"),
        ("Nevertheless, we went.", "CONCESSION", "SN"),
        ("For example, sodium burns.", "EXAMPLE", "NS"),
        ("Because it was late, we left.", "CAUSE", "NS"),
        ("Then add water.", "SEQUENCE", "NN"),
        ("If it breaks, call.", "CONDITION", "NS"),
        ("According to the WHO, it is safe.", "ATTRIBUTION", "NS"),
        ("An enzyme is a protein that speeds up a reaction.", "DEFINITION", "NS"),
        ("然而，效果很小。", "CONTRAST", "NN"),
        ("虽然下雨，我们还是去了。", "CONCESSION", "NS"),
        ("尽管如此，我们还是去了。", "CONCESSION", "SN"),
        ("据统计，人口在增长。", "ATTRIBUTION", "NS"),
        ("酶是指加速反应的蛋白质。", "DEFINITION", "NS"),
    ],
)
def test_a_marker_names_relation_and_nuclearity(sentence: str, relation: str, nuclearity: str):
    found = opening(sentence)
    assert found is not None
    assert (found.relation, found.nuclearity) == (Relation(relation), Nuclearity(nuclearity))


@pytest.mark.parametrize("sentence", ["HOWEVER, no.", "And however it ends, no.", "- However, no.", "“However, no.”"])
def test_case_quotes_bullets_and_a_leading_and_do_not_hide_a_marker(sentence: str):
    found = opening(sentence)
    assert found is not None
    assert found.relation is Relation.CONTRAST


@pytest.mark.parametrize(
    "sentence",
    [
        "Button cells are small.",  # but
        "Iffy results came in.",  # if
        "Sofia left.",  # so
        "Then-president Obama spoke.",
        "First Lady Jill Biden spoke.",
        "So far nothing has happened.",
        "The result was clear.",
        "It is a good idea.",
        "There is a house in New Orleans.",
        "但丁写了《神曲》。",
        "Nothing, however, happened.",
        "",
    ],
)
def test_what_only_looks_like_a_marker_is_none(sentence: str):
    assert opening(sentence) is None


def test_the_longest_marker_wins():
    assert (a := opening("In case of fire, run.")) is not None
    assert a.relation is Relation.CONDITION
    assert (b := opening("In this case, run.")) is not None
    assert b.relation is Relation.CIRCUMSTANCE
    assert (c := opening("Despite this, it ran.")) is not None
    assert c.nuclearity is Nuclearity.SN


def test_every_marker_is_found_where_it_opens_a_sentence():
    for phrase, marker in MARKERS.items():
        assert opening(f"{phrase.capitalize()} 7 and so on.") == marker, phrase


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


async def test_the_control_elaborates_every_sentence_by_all_that_follows():
    tree = (await RightBranchingParser().parse(_chunk("One stands. Two follows. However, three differs."))).value
    assert [(s.start, s.mid, s.end) for s in tree.splits] == [(0, 1, 3), (1, 2, 3)]
    assert tree.satellite_depth == (0, 1, 2)
