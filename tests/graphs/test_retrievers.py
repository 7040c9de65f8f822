"""Every retriever over trees on one ingested corpus: evidence within the budget, told in source text, trees kept."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from discorag.errors import EmptyCorpusError
from discorag.hierarchy.retrievers import RETRIEVERS, TreeRetrieverName
from discorag.text.document import Scope
from discorag.text.words import count_words
from graphs import DiscoRAG
from nodes.context import AnswerContext
from nodes.trees import tree_index
from tests.conftest import EXAMPLES, Pipelines

FLU = "Does vitamin D prevent flu?"


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    rag = pipeline()
    rag.ingest(EXAMPLES / "vitamin-d", corpus="vitamin-d", parser="rules")
    return rag


def test_every_name_answers_on_one_ingested_corpus(rag: DiscoRAG) -> None:
    texts = {m.doc_id: Path(m.uri).read_text(encoding="utf-8") for m in rag.documents(corpus="vitamin-d")}
    for name in get_args(TreeRetrieverName):
        result = rag.ask(FLU, corpus="vitamin-d", retriever=name, evidence_words=150)
        assert result.answer.sentences, name
        evidence = [e for s in result.answer.sentences for e in s.evidence]
        assert evidence, name
        assert all(texts[e.doc_id][e.span.start : e.span.end] == e.text for e in evidence)


def test_every_name_has_a_retriever() -> None:
    assert set(get_args(TreeRetrieverName)) == set(RETRIEVERS)


def test_evidence_keeps_to_its_budget_and_is_all_that_the_answer_sees(rag: DiscoRAG) -> None:
    result = rag.ask(FLU, corpus="vitamin-d", retriever="discourse", evidence_words=60)
    said = {e.text for s in result.answer.sentences for e in s.evidence}
    assert sum(map(count_words, said)) <= 60


def test_trees_are_built_once_and_go_with_their_document(rag: DiscoRAG, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Pumps\n\nPumps failed. They were cheap. Nobody looked.", encoding="utf-8")
    rag.ingest(folder, corpus="notes")
    store, scope = rag.resources.store, Scope(corpus="notes")
    assert store.tree_versions(scope, "discourse") == {}
    rag.ask("Why did pumps fail?", corpus="notes", retriever="discourse")
    versions = store.tree_versions(scope, "discourse")
    assert len(versions) == 1
    (folder / "a.md").write_text("# Pumps\n\nPumps worked. They were good. All looked.", encoding="utf-8")
    rag.ingest(folder, corpus="notes")
    assert store.tree_versions(scope, "discourse") == {}
    answer = rag.ask("Did pumps work?", corpus="notes", retriever="discourse").answer
    assert "worked" in answer.text


async def test_a_changed_paragraph_takes_two_parses_and_the_rest_are_known(rag: DiscoRAG, tmp_path: Path) -> None:
    paragraphs = [f"Pump {i} failed. It was cheap. Nobody looked at pump {i}." for i in range(6)]
    folder = tmp_path / "notes"
    folder.mkdir()
    scope, deps = Scope(corpus="notes"), rag.resources

    async def effort() -> tuple[int, int]:
        (folder / "a.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")
        await rag.aingest(folder, corpus="notes", parser="rules")
        index = tree_index(RETRIEVERS["discourse"], deps, scope)
        await index.ensure([m.doc_id for m in deps.store.manifests(scope)])
        return index.effort.parsed, index.effort.reused

    assert await effort() == (7, 0)
    assert await effort() == (0, 0)  # unchanged: nothing is built
    paragraphs[3] = "Pump 3 was replaced. It works. Everybody is glad."
    assert await effort() == (2, 5)


def test_an_empty_corpus_is_an_error_for_trees_too(rag: DiscoRAG) -> None:
    with pytest.raises(EmptyCorpusError):
        rag.ask(FLU, corpus="nothing", retriever="unified")


def test_an_unknown_retriever_names_those_there_are() -> None:
    with pytest.raises(ValidationError, match="discourse"):
        AnswerContext.model_validate({"retriever": "magic"})
