"""What a reader sees of an answer, a plan and a graph: marks are ours, and nothing that a source wrote is markup."""

from io import StringIO

import pytest
from hypothesis import given
from rich.console import Console, RenderableType

from discorag.generation.statement_views import statements_markdown, structure_html
from discorag.generation.views import answer_html, answer_markdown
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.schema.answer import (
    JUDGED,
    Answer,
    AnswerSentence,
    Citation,
    Disagreement,
    EvidenceSpan,
    Namesake,
    Support,
)
from discorag.schema.discourse import ChunkRelation, Plan, PlanStep
from discorag.schema.ledger import Ledger
from discorag.schema.statements import (
    Quotation,
    Statement,
    StatementGraph,
    StatementRelation,
    StatementRelationKind,
    StatementRole,
)
from discorag.schema.values import Span
from discorag.store.records import Hit
from discorag.text.citations import references, with_steps
from discorag.text.escaping import one_line
from interfaces.cli.present import ingest_summary
from interfaces.http.ask import Reply
from interfaces.results import AskResult, IngestResult, NumberedAnswer
from interfaces.views.terminal import answer_text, plan_text
from tests.generation.hostile import OURS, Page, hostile_texts, planted, rendered
from tests.strategies import texts


def answer_of(text: str) -> Answer:
    """A sentence in each state and all else of an answer made of ``text``."""
    first, second = (
        EvidenceSpan(chunk_id=c, doc_id=c, title=text, span=Span(start=0, end=max(1, len(text))), text=text)
        for c in "ab"
    )
    sentences = (
        AnswerSentence(text=text, support=Support.QUOTED, evidence=(first, second)),
        AnswerSentence(text=text, support=Support.CHECK, reason=f"Not there: {text}"),
        AnswerSentence(text=text, support=Support.CITED, evidence=(first,)),
    )
    found = Disagreement(relation=ChunkRelation.CONTRADICTS, a=first, b=second, reason=text, favoured="a")
    namesake = Namesake(a=first, b=second, reason=text)
    return Answer(query=text, sentences=sentences, disagreements=(found,), namesakes=(namesake,))


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
    assert page.bold == ["[1][2]", "[check]", "[1]"]
    assert page.text.count(one_line(text, None)) >= 2
    assert [mark for mark in references(shown) if mark.chunk not in (1, 2)] == []
    terminal = printed(answer_text(answer))
    assert terminal.startswith(one_line(text, None))
    assert "\x1b" not in terminal


@given(texts)
def test_an_answer_of_any_text_has_its_form_and_no_other(text: str) -> None:
    shown = "".join(answer_markdown(answer_of(text)))
    assert planted(shown, {*OURS, "strong"}) == []
    tags = [name for name, _ in Page(rendered(shown)).tags if name != "code"]
    checked, sources = ["p"], ["p", "ol", "li", "li", "ul", "li"]
    disagreements, namesakes = ["p", "ul", "li", "ul", "li", "li"], ["p", "ul", "li", "ul", "li"]
    assert tags == ["p", "strong", "strong", "strong", *checked, *sources, *disagreements, *namesakes]


@pytest.mark.parametrize("text", list(dict.fromkeys(hostile_texts())))
def test_statements_and_plan_of_any_words_have_no_markup_but_ours(text: str) -> None:
    said = Quotation(passage=1, chunk_id="a", text=text, spans=(Span(start=0, end=len(text)),), title=text)
    roles = (StatementRole.ANSWERS, StatementRole.OPPOSES)
    statements = tuple(
        Statement(number=n, says=f"{text}.", quotations=(said,), role=role) for n, role in enumerate(roles, start=1)
    )
    relation = StatementRelation(source=2, relation=StatementRelationKind.LIMITS, target=1, about=text)
    graph = StatementGraph(statements=statements, relations=(relation,), missing=text)
    plan = Plan(paragraph=text, steps=(PlanStep(text=text, statements=(1, 2), role=StatementRole.OPPOSES),))
    answer = Answer(query="?", sentences=(), statements=graph, plan=plan)
    assert planted("".join(statements_markdown(answer))) == []
    html = structure_html(answer)
    tags = Page(html).tags
    assert [tag for tag in tags if tag[0] not in {*OURS, "details", "summary"} or tag[1]] == []


def test_statements_stand_under_their_document_once_and_end_with_a_colon_only() -> None:
    def quotation(passage: int, text: str) -> Quotation:
        return Quotation(
            passage=passage, chunk_id=f"c{passage}", text=text, spans=(Span(start=0, end=len(text)),), title="Guide"
        )

    statements = (
        Statement(number=1, says="Builds run as root.", quotations=(quotation(1, "as root"), quotation(3, "is root"))),
        Statement(number=2, says="Tools are free", quotations=(quotation(2, "cost nothing"),)),
    )
    shown = statements_markdown(Answer(query="?", sentences=(), statements=StatementGraph(statements=statements)))
    assert "".join(shown).splitlines() == [
        "- Guide",
        "  - {1} Builds run as root: “as root” “is root”",
        "  - {2} Tools are free: “cost nothing”",
    ]


def test_a_plan_cites_the_sources_of_the_answer_in_bold_and_shows_other_brackets_as_they_are() -> None:
    plan = Plan(
        paragraph="Open with [2.1-3], which is [safe] 【1】. Set \\[1] against [1](http://evil.example). Leave out [9]."
    )
    answer = answer_of("Tides rise.").model_copy(update={"plan": with_steps(plan)})
    hits = (Hit("c", 1), Hit("b", 1))
    result = AskResult(answer=answer, hits=hits, graph=None, draft="", ledger=Ledger(), seconds=0.0)
    assert [line.rstrip() for line in printed(plan_text(result)).splitlines()] == [
        "1. Open with [2], which is [safe] 【1】.",
        "2. Set [1] against [1](http://evil.example).",
        "3. Leave out [not cited].",
    ]
    console = Console(file=StringIO(), force_terminal=True)
    bold = [s.text for s in console.render(plan_text(result)) if s.style and s.style.bold]
    assert bold == ["[2]", "[not cited]"]


HOSTILE = '<script>alert("x")</script> & </svg>\u202e'


TIDES = {"a": "The tide rises.", "b": "The tide falls.", "c": "The tide turns."}


def _source(text: str) -> EvidenceSpan:
    return EvidenceSpan(chunk_id="c", doc_id="d", title=HOSTILE, span=Span(start=0, end=9), text=text, page=2)


def test_an_answer_shows_its_sources_states_and_who_disagrees_and_a_refusal_the_nearest_passages() -> None:
    a, b = _source("The tide rises."), _source("The tide falls.")
    told = (
        AnswerSentence(text=HOSTILE, support=Support.QUOTED, evidence=(a,), reason="Quoted word for word."),
        AnswerSentence(text="Nobody says so.", support=Support.NOT_SUPPORTED, reason="no source"),
        AnswerSentence(
            text="It may rise.", support=Support.CHECK, evidence=(a,), reason="In none of its sources: the number 7."
        ),
    )
    pair = Disagreement(relation=ChunkRelation.CONTRADICTS, a=a, b=b, reason="One denies it.")
    html = answer_html(Answer(query="?", sentences=told, disagreements=(pair,)))
    assert "<script" not in html
    for shown in (
        "[1]",
        "[not supported]",
        "[1][check]",
        "Not supported “Nobody says so.”: no source",
        "Check “It may rise.”: In none",
        "the number 7",
        JUDGED,
        "One denies it.",
        "p. 2",
    ):
        assert shown in html
    html = answer_html(Answer(query="?", sentences=(), abstained="Nothing is near.", nearest=(_source("Near."),)))
    assert "do not answer" in html
    assert "Near." in html


def test_citations_stand_where_the_model_wrote_them_and_others_at_the_end() -> None:
    a, b, c = (_source(text).model_copy(update={"chunk_id": name, "title": name}) for name, text in TIDES.items())
    text = "One gives 1841, another 1900, and a third."
    citations = (Citation(at=14, chunk_id="a"), Citation(at=28, chunk_id="b"), Citation(at=len(text) - 1, chunk_id="a"))
    sentence = AnswerSentence(
        text=text, citations=citations, evidence=(a, b, c), support=Support.CHECK, reason="The number 3."
    )
    answer = Answer(query="?", sentences=(sentence, sentence.model_copy(update={"support": Support.CITED})))
    shown = "".join(answer_markdown(answer))
    assert shown.startswith("One gives 1841 **[1]**, another 1900 **[2]**, and a third. **[1][3][check]** One gives")
    assert "and a third. **[1][3]** " in shown
    marks = [[(m.at, m.numbers) for m in own] for own in NumberedAnswer.numbered(answer).marks]
    assert marks == [[(14, (1,)), (28, (2,)), (len(text), (1, 3))]] * 2


def test_a_citation_of_a_chunk_that_gives_only_a_heading_has_no_number() -> None:
    source, heading = (_source(text).model_copy(update={"chunk_id": name}) for name, text in list(TIDES.items())[:2])
    evidence = (source, heading.model_copy(update={"is_context": True}))
    citations = (Citation(at=3, chunk_id="b"), Citation(at=8, chunk_id="a"))
    sentence = AnswerSentence(text="One, two and more.", citations=citations, evidence=evidence, support=Support.CITED)
    shown = "".join(answer_markdown(Answer(query="?", sentences=(sentence,))))
    assert shown.startswith("One, two **[1]** and more. ")


def test_a_question_is_text_in_the_file_of_its_answer() -> None:
    answer = Answer(query=f"</title>{HOSTILE} [1]", sentences=())
    result = AskResult(answer=answer, hits=(), graph=None, draft="", ledger=Ledger(), seconds=0.0)
    assert planted(Reply.to(result).markdown, {*OURS, "h1"}) == []


def test_a_note_on_several_documents_stands_once_below_an_ingest() -> None:
    notes = {"a.md": "The models cannot read it.", "b.md": "The models cannot read it.", "c.md": "It is empty."}
    outcomes = tuple(DocumentOutcome(uri=uri, status=Status.ADDED, chunks=1, note=note) for uri, note in notes.items())
    console = Console(file=StringIO(), width=200)
    console.print(ingest_summary(IngestResult(outcomes=outcomes, ledger=Ledger(), seconds=1.0)))
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().splitlines() == [
        "3 added; 3 chunks stored",
        "  added a.md and 1 other document: The models cannot read it.",
        "  added c.md: It is empty.",
    ]
