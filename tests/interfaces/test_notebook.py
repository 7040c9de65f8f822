"""What notebooks show: well-formed, complete, and text only."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from discorag.discourse.formats.drawing import graph_svg, tree_svg
from discorag.generation.views import answer_html
from discorag.models.encoder import PackagedEncoder
from discorag.schema.answer import Answer, AnswerSentence, Disagreement, EvidenceSpan, Support
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph, RstTree
from discorag.schema.values import Span
from tests.inputs import load_inputs

HOSTILE = '<script>alert("x")</script> & </svg>\u202e'


def _texts(svg: str) -> list[str]:
    return [e.text or "" for e in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_words_of_documents_are_text_in_the_drawing() -> None:
    svg = tree_svg(RstTree(edus=(Span(start=0, end=1),)), [HOSTILE])
    assert not list(ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}script"))
    assert any("<script>" in text for text in _texts(svg))


def test_a_graph_names_its_relations() -> None:
    edge = Edge(source="a", target="b", relation=ChunkRelation.CONTRASTS_WITH)
    said = _texts(graph_svg(RhetoricalGraph(chunks=("a", "b", "c"), edges=(edge,))))
    assert {"1", "2", "3", "contrasts with"} <= set(said)
    assert _texts(graph_svg(RhetoricalGraph(chunks=()))) == []


def _source(text: str) -> EvidenceSpan:
    return EvidenceSpan(chunk_id="c", doc_id="d", title=HOSTILE, span=Span(start=0, end=9), text=text, page=2)


def test_an_answer_shows_its_sources_the_state_of_each_sentence_and_who_disagrees() -> None:
    a, b = _source("The tide rises."), _source("The tide falls.")
    told = (
        AnswerSentence(text=HOSTILE, support=Support.SUPPORTED, evidence=(a,), reason="Quoted word for word."),
        AnswerSentence(text="Nobody says so.", support=Support.NOT_SUPPORTED, reason="no source"),
        AnswerSentence(text="It may rise.", support=Support.NOT_VERIFIED, evidence=(a,), reason="no model"),
    )
    pair = Disagreement(relation=ChunkRelation.CONTRADICTS, a=a, b=b, reason="One denies it.")
    html = answer_html(Answer(query="?", sentences=told, disagreements=(pair,)))
    assert "<script" not in html
    assert "[1]" in html
    assert 'title="no source"' in html
    assert 'title="Quoted word for word."' in html
    assert "[not supported]" in html
    assert "[not verified]" in html
    assert "<i>contradicts</i> One denies it." in html
    assert "page 2" in html


def test_a_refusal_shows_the_nearest_passages() -> None:
    html = answer_html(Answer(query="?", sentences=(), abstained="Nothing is near.", nearest=(_source("Near."),)))
    assert "do not answer" in html
    assert "Near." in html


@pytest.mark.parametrize("kind", ["chunk", "tree"])
async def test_notebooks_ask_objects_to_draw_themselves(kind: str, encoder: PackagedEncoder) -> None:
    [chunk, *_] = (await load_inputs("tides", "Why do tides rise?", encoder)).chunks
    drawn = chunk if kind == "chunk" else chunk.tree
    assert drawn is not None
    assert drawn._repr_html_().startswith("<svg")
