"""What a reader gets of statements: sentences with their quotations, disagreements, namesakes, the plan, and views."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType

from discorag import AskResult, DiscoRAG
from discorag.generation.views import answer_markdown
from discorag.schema.discourse import ChunkRelation
from discorag.schema.statements import StatementRelationKind, StatementRole
from interfaces.views.terminal import plan_text, statements_text
from tests.conftest import Examples, Pipelines
from tests.graphs.scripts import passages_in, prompt_of, turn_of, write_texts
from tests.servers.scripted import Body, ScriptedServer

QUESTION = "When was the Museum of the Struggle established?"
FIRST, SECOND, OTHER = (
    "The old school became the Museum of the Struggle in 1980.",
    "The old school became the Museum of the Struggle in 1955.",
    "The Museum of the Struggle in Kastoria was inaugurated in 2010.",
)
OPENED = "It opened its doors to visitors in 1982."
TEXTS = {"one.txt": f"{FIRST} {OPENED}", "two.txt": SECOND, "three.txt": OTHER}
ONLY_KASTORIA = "Tell only of the one in Kastoria."
_DRAFT = (
    "The old school became the museum in 1980 [{one}], and it opened to visitors in 1982 [{one}]. "
    "Another account gives 1955 [{two}]. The museum in Kastoria was inaugurated in 2010 [{three}]. "
    "Who founded them is not stated."
)


def _said(number: int, role: str, quoted: str, passage: int) -> dict[str, Any]:
    return {"id": number, "says": quoted, "role": role, "quotations": [{"passage": passage, "text": quoted}]}


def _relation(source: int, relation: str, target: int, about: str) -> dict[str, Any]:
    return {"from": source, "relation": relation, "to": target, "about": about}


def museums(body: Body) -> str:
    """A model that knows the museums."""
    numbers = {name: n for n, text in passages_in(body).items() for name, own in TEXTS.items() if text == own}
    one, two, three = (numbers[name] for name in TEXTS)
    if turn_of(body) == "answer" and ONLY_KASTORIA in prompt_of(body):
        return f"The museum in Kastoria was inaugurated in 2010 [{three}]."
    if turn_of(body) == "answer":
        return _DRAFT.format(one=one, two=two, three=three)
    statements = [
        _said(1, "answers", FIRST, one),
        _said(2, "answers", OPENED, one),
        _said(3, "opposes", SECOND, two),
        _said(4, "namesake", OTHER, three),
    ]
    relations = [
        _relation(3, "CONTRADICTS", 1, "1955 or 1980"),
        _relation(2, "CONTRADICTS", 1, "said in the same document"),
        _relation(3, "LIMITS", 2, "a limit is not a disagreement"),
        _relation(4, "ANOTHER", 1, "museum in Kastoria"),
    ]
    reply = {"statements": statements, "relations": relations, "order": [[1, 2], [3], [4]], "missing": "The founder."}
    return json.dumps(reply)


@pytest.fixture(scope="module")
def rag(shared_pipeline: Pipelines, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DiscoRAG]:
    with ScriptedServer(museums) as server:
        rag = shared_pipeline(llm=server.base_url)
        rag.ingest(write_texts(tmp_path_factory.mktemp("museums") / "texts", TEXTS), parser="rules")
        yield rag


@pytest.fixture(scope="module")
def result(rag: DiscoRAG) -> AskResult:
    return rag.ask(QUESTION)


def printed(what: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=1000, color_system=None).print(what)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_a_sentence_names_its_statements_and_leads_to_their_very_words(rag: DiscoRAG, result: AskResult) -> None:
    told = [(s.statements, s.step, [e.text for e in s.evidence]) for s in result.answer.sentences[:3]]
    assert told == [((1, 2), 0, [FIRST, OPENED]), ((3,), 1, [SECOND]), ((4,), 2, [OTHER])]
    for e in (e for s in result.answer.sentences for e in s.evidence):
        text = rag.backends.store.document(rag.scope(), e.doc_id).text
        assert text[e.span.start : e.span.end] == e.text
    assert (result.answer.sentences[3].statements, result.answer.sentences[3].step) == ((), None)


def test_sources_disagree_where_statements_of_two_documents_contradict_each_other(result: AskResult) -> None:
    [found] = result.answer.disagreements
    assert (found.relation, found.a.text, found.b.text) == (ChunkRelation.CONTRADICTS, FIRST, SECOND)
    assert (found.reason, found.favoured, found.statements) == ("1955 or 1980", "a", (1, 3))


def test_a_namesake_is_shown_as_one_and_not_as_a_disagreement(result: AskResult) -> None:
    [found] = result.answer.namesakes
    assert (found.a.text, found.b.text, found.reason, found.statements) == (FIRST, OTHER, "museum in Kastoria", (1, 4))


def test_the_steps_of_the_plan_have_statements_a_role_and_the_passages_that_they_cite(result: AskResult) -> None:
    assert result.answer.plan is not None
    steps, graph = result.answer.plan.steps, result.answer.statements
    assert graph is not None
    assert [(s.statements, s.role) for s in steps] == [
        ((1, 2), StatementRole.ANSWERS),
        ((3,), StatementRole.OPPOSES),
        ((4,), StatementRole.NAMESAKE),
    ]
    assert [[r.chunk for r in s.references] for s in steps] == [
        list(dict.fromkeys(p for n in s.statements for p in graph.by_number[n].passages)) for s in steps
    ]


def test_an_answer_that_tells_neither_side_shows_no_disagreement(rag: DiscoRAG) -> None:
    answer = rag.ask(QUESTION, instruction=ONLY_KASTORIA).answer
    assert [s.statements for s in answer.sentences] == [(4,)]
    assert answer.disagreements == ()
    assert len(answer.namesakes) == 1


def test_all_views_show_statements_by_passage_relations_and_the_plan(result: AskResult) -> None:
    shown = printed(statements_text(result))
    for line in (
        f"{{3}} (opposes) “{SECOND}” (source 3)",
        "{3} contradicts {1} (1955 or 1980)",
        "No passage says: The founder.",
    ):
        assert line in shown
    assert f"2. (opposes) {SECOND.rstrip('.')} {{3}}" in printed(plan_text(result))
    notebook = result._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert notebook.count("<details>") == 2
    assert "{3} contradicts {1}" in notebook
    markdown = "".join(answer_markdown(result.answer))
    assert "- Contradicts: 1955 or 1980" in markdown
    assert markdown.count("(the answer follows this one)") == 1
    assert "Different things of the same name:" in markdown


def test_without_a_model_quoted_sentences_are_statements_and_conflicts_relate_them(examples: Examples) -> None:
    result = examples("vitamin-d").ask("Does vitamin D prevent flu?", corpus="vitamin-d")
    graph, plan = result.answer.statements, result.answer.plan
    assert graph is not None
    assert plan is not None
    assert [s.says for s in graph.statements] == [s.text for s in result.answer.sentences]
    assert [s.statements for s in result.answer.sentences] == [(s.number,) for s in graph.statements]
    assert StatementRelationKind.CONTRADICTS in {r.relation for r in graph.relations}
    for relation in (r for r in graph.relations if r.relation is StatementRelationKind.CONTRADICTS):
        ends = {graph.by_number[n].quotations[0].spans[0] for n in (relation.source, relation.target)}
        assert ends in [{d.a.span, d.b.span} for d in result.answer.disagreements]
    assert {n for step in plan.steps for n in step.statements} == {s.number for s in graph.statements}
