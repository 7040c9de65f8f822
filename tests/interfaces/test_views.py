"""What a reader sees of an answer, a plan and a graph: marks are ours, and nothing that a source wrote is markup."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from hypothesis import given
from rich.console import Console, RenderableType

from discorag.generation.views import answer_markdown
from discorag.schema.answer import Answer, AnswerSentence, Disagreement, EvidenceSpan, Support
from discorag.schema.discourse import ChunkRelation, Edge, Plan, RhetoricalGraph
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.citations import references
from discorag.text.escaping import one_line
from interfaces.views.terminal import answer_text, graph_mermaid, graph_text, plan_mermaid, plan_text
from tests.generation.hostile import OURS, Page, hostile_texts, planted, rendered
from tests.strategies import texts

_SQUARE = re.compile(r"[\[［【〔⟦][^\]］】〕⟧]*[\]］】〕⟧]")


def answer_of(text: str) -> Answer:
    """A sentence in each state and all else of an answer made of ``text``."""
    first, second = (
        EvidenceSpan(chunk_id=c, doc_id=c, title=text, span=Span(start=0, end=max(1, len(text))), text=text)
        for c in "ab"
    )
    sentences = (
        AnswerSentence(text=text, support=Support.SUPPORTED, evidence=(first, second)),
        AnswerSentence(text=text, support=Support.NOT_SUPPORTED, reason=f"Not there: {text}"),
        AnswerSentence(text=text, support=Support.NOT_VERIFIED, evidence=(first,), reason="Nothing checks."),
    )
    found = Disagreement(relation=ChunkRelation.CONTRADICTS, a=first, b=second)
    return Answer(query=text, sentences=sentences, disagreements=(found,))


def bold(answer: Answer) -> list[str]:
    """What is bold in the terminal."""
    segments = Console(file=StringIO(), width=10_000, force_terminal=True).render(answer_text(answer))
    found = [s.text.strip() for s in segments if s.style and s.style.bold and "disagree" not in s.text]
    return [text for text in found if text]


def printed(what: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=10_000, color_system=None).print(what)
    return out.getvalue()


@pytest.mark.parametrize("text", list(dict.fromkeys(hostile_texts())))
def test_the_only_marks_that_a_reader_sees_are_ours(text: str) -> None:
    answer = answer_of(text)
    shown = "".join(answer_markdown(answer))
    assert planted(shown, {*OURS, "strong"}) == []
    page = Page(rendered(shown))
    assert page.bold == ["[1][2]", "[not supported]", "[1][not verified]"]
    assert page.text.count(one_line(text, None)) >= 2
    assert [mark for mark in references(shown) if mark.chunk not in (1, 2)] == []
    assert bold(answer) == ["[1][2]", "[not supported]", "[1][not verified]", "[1]", "[2]", "[1]", "[2]"]
    terminal = printed(answer_text(answer))
    assert terminal.startswith(one_line(text, None))
    assert "\x1b" not in terminal


@given(texts)
def test_an_answer_of_any_text_has_its_form_and_no_other(text: str) -> None:
    shown = "".join(answer_markdown(answer_of(text)))
    assert planted(shown, {*OURS, "strong"}) == []
    tags = [name for name, _ in Page(rendered(shown)).tags if name != "code"]
    assert tags == ["p", "strong", "strong", "strong", "p", "ol", "li", "li", "ul", "li", "li", "p", "ul", "li"]


def test_a_plan_shows_its_references_in_bold_and_other_brackets_as_they_are() -> None:
    plan = Plan(paragraph="Open with [2.1-3], which is [safe] 【1】. Set \\[1] against [1](http://evil.example).")
    assert printed(plan_text(plan)).splitlines() == [
        "1. Open with [2.1-3], which is [safe] 【1】.",
        "2. Set [1] against [1](http://evil.example).",
    ]
    console = Console(file=StringIO(), force_terminal=True)
    assert [s.text for s in console.render(plan_text(plan)) if s.style and s.style.bold] == ["[2.1-3]"]
    labels = plan_mermaid(plan)
    assert "with #91;2.1-3#93;, which is #92;#91;safe" in labels
    assert labels.count("#92;#91;1#93;") == 2


def test_labels_show_the_evidence_used_and_not_the_start_of_the_chunk() -> None:
    text = "The start. The moon pulls. The sun helps."
    spans = (Span(start=0, end=10), Span(start=11, end=26), Span(start=27, end=41))
    chunks = tuple(
        Chunk(id=i, doc_id=i, order=0, span=Span(start=0, end=41), text=text, title=i, sentences=spans)
        for i in ("c0", "c1", "c2")
    )
    edge = Edge(source="c1", target="c0", relation=ChunkRelation.SUPPORTS, source_span=spans[2], target_span=spans[2])
    graph = RhetoricalGraph(chunks=("c0", "c1", "c2"), edges=(edge,))
    said = AnswerSentence(text="It pulls.", evidence=(EvidenceSpan.of(chunks[0], spans[1]),), step=1)
    answer = Answer(query="?", sentences=(said,))
    assert graph_mermaid(graph, chunks, answer).splitlines()[1:4] == [
        '    c1["1: c0<br/>The moon pulls."]',
        '    c2["2: c1<br/>The sun helps."]',
        '    c3["3: c2"]',
    ]
    assert "The start" not in printed(graph_text(graph, chunks, answer))
    assert plan_mermaid(Plan(paragraph="Open. Then the moon."), answer).splitlines()[1:] == [
        '    s1["1: Open."]',
        '    s2["2: Then the moon.<br/>“The moon pulls.”"]',
        "    s1 --> s2",
    ]


def test_the_graph_numbers_chunks_and_no_chunk_numbers_itself() -> None:
    words = ['[1] "]; click c1 "http://evil.example" %%{init: {}}%%', "`end` fa:fa-ban ［2］\nflowchart"]
    spans = [Span(start=0, end=len(w)) for w in words]
    chunks = tuple(
        Chunk(id=f"c{i}", doc_id="d", order=i, span=span, text=w, title=w, sentences=(span,))
        for i, (w, span) in enumerate(zip(words, spans, strict=True))
    )
    edge = Edge(source="c0", target="c1", relation=ChunkRelation.SUPPORTS)
    graph = RhetoricalGraph(chunks=("c0", "c1"), edges=(edge,))
    console = Console(file=StringIO(), width=200, force_terminal=True)
    marked = [s.text for s in console.render(graph_text(graph, chunks)) if s.style and s.style.bold]
    assert [text for text in marked if text.strip()] == ["[1]", "[2]"]
    head, *lines = graph_mermaid(graph, chunks).splitlines()
    assert head == "flowchart LR"
    assert [re.sub(r'(?<=: )[^"\[\]`{}%]+', "...", line.strip()) for line in lines] == [
        'c1["1: ..."]',
        'c2["2: ..."]',
        "c1 -->|SUPPORTS| c2",
    ]
    assert "fa:fa" not in "".join(lines)
