"""What the reader is shown of a sentence, in each condition."""

import random

import pytest

from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation, Edge, Nuclearity, Plan, Relation, RhetoricalGraph, RstTree, Split
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from training.reader.examples import CONDITIONS, Renderer

TEXT = "It rained. So we stayed. We played chess."
SENTENCES = (Span(start=0, end=10), Span(start=11, end=24), Span(start=25, end=41))
SPLITS = (
    Split(start=0, mid=2, end=3, relation=Relation.SEQUENCE, nuclearity=Nuclearity.NN),
    Split(start=0, mid=1, end=2, relation=Relation.RESULT, nuclearity=Nuclearity.SN),
)


def chunk(name: str, text: str, sentences: tuple[Span, ...], tree: RstTree | None = None) -> Chunk:
    whole = Span(start=0, end=len(text))
    return Chunk(id=name, doc_id=name, order=0, span=whole, text=text, sentences=sentences, title="Diary", tree=tree)


CHUNKS = (
    chunk("a", TEXT, SENTENCES, RstTree(edus=SENTENCES, splits=SPLITS)),
    chunk("b", "The sun shone.", (Span(start=0, end=14),)),
)
INPUTS = AnswerInputs(
    query="Why did they stay?",
    chunks=CHUNKS,
    graph=RhetoricalGraph(chunks=("a", "b"), edges=(Edge(source="b", target="a", relation=ChunkRelation.CONTRADICTS),)),
    plan=Plan(paragraph="Start with the rain [1.1]."),
)


@pytest.mark.parametrize(
    ("condition", "added"),
    {
        "sentence": "",
        "neighbours": " [It rained. We played chess.]",
        "trees": " [RESULT nucleus: It rained.]",
        "graph": " [CONTRADICTS by: The sun shone.]",
        "plan": " [Start with the rain [1.1].]",
        "other-plan": "",
    }.items(),
)
def test_a_sentence_comes_with_what_its_condition_adds(condition: str, added: str) -> None:
    render = Renderer(INPUTS, Plan(paragraph="End with the sun [2.1]."), random.Random(0))
    assert render.text(condition, CHUNKS[0], SENTENCES[1]) == f"Diary: So we stayed.{added}"


def test_filler_is_as_long_as_what_the_tree_adds() -> None:
    render = Renderer(INPUTS, None, random.Random(0))
    texts = {name: render.text(name, CHUNKS[0], SENTENCES[1]).split() for name in CONDITIONS}
    assert len(texts["filler"]) == len(texts["trees"])
    assert texts["filler"] != texts["trees"]
