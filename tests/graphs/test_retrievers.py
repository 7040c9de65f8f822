"""Retrievers over trees through the facade: when trees are built, what happens where they cannot be, copies."""

from pathlib import Path
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.options import resolve
from discorag.schema.document import Scope
from discorag.schema.errors import InputError, ReadOnlyStoreError, StoreError
from tests.conftest import Pipelines
from tests.inputs import stage_of
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def rag(pipeline: Pipelines) -> DiscoRAG:
    return pipeline()


def test_an_ingest_builds_the_trees_of_the_asked_retriever_also_for_documents_that_are_there_already(
    rag: DiscoRAG, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# Pumps\n\nPumps failed. They were cheap. Nobody looked.", encoding="utf-8")
    store, scope = rag.backends.store, Scope(corpus="notes")

    def built(retriever: str) -> int:
        ledger = rag.ingest(tmp_path, corpus="notes", parser="rules", retriever=retriever).ledger
        return sum(stage.counts.get("trees built", 0) for stage in ledger.stages)

    assert built("dense") == 0
    assert built("snapped") == 1
    assert len(store.tree_versions(scope, "snapped")) == 1
    assert built("snapped") == 0
    assert stage_of(rag.ask("Why did pumps fail?", corpus="notes").ledger, "retrieve").counts["trees built"] == 0


@pytest.mark.parametrize("error", [StoreError("No space left.", hint="Make room."), OSError("No space left.")])
def test_a_document_whose_tree_cannot_be_stored_is_there_all_the_same_and_it_is_told(
    rag: DiscoRAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    (tmp_path / "a.md").write_text("Pumps failed. They were cheap.", encoding="utf-8")

    def full(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(rag.backends.store, "put_tree", full)
        result = rag.ingest(tmp_path, corpus="notes", parser="rules")
    assert [o.status for o in result.outcomes] == ["added"]
    assert [(f.stage, f.fallback) for f in result.ledger.failures] == [("build_tree", "the first question builds it")]
    assert stage_of(rag.ask("Why did pumps fail?", corpus="notes").ledger, "retrieve").counts["trees built"] == 1


def test_a_question_over_trees_that_cannot_be_stored_is_answered_over_chunks(
    rag: DiscoRAG, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("Pumps failed. They were cheap.", encoding="utf-8")
    rag.ingest(tmp_path, corpus="notes", parser="rules", retriever="dense")

    def refuse(*_: object, **__: object) -> None:
        raise ReadOnlyStoreError("The folder is read-only.", hint="Check it.")

    monkeypatch.setattr(rag.backends.store, "put_tree", refuse)
    result = rag.ask("Why did pumps fail?", corpus="notes", retriever="discourse")
    assert [(f.stage, f.fallback) for f in result.ledger.failures] == [("retrieve", "dense")]
    assert result.answer.text == "Pumps failed."


def test_who_counts_chunks_gets_chunks_and_a_retriever_over_trees_refuses_to_count_them() -> None:
    assert resolve({}, {}, has_model=False).options.retriever == "snapped"
    assert resolve({"top_k": 3}, {}, has_model=False).options.retriever == "dense"
    assert resolve({"preset": "paper"}, {}, has_model=True).options.retriever == "dense"
    with pytest.raises(InputError, match="evidence_words"):
        resolve({"top_k": 3, "retriever": "raptor"}, {}, has_model=True)


@pytest.mark.parametrize(("reply", "refused"), [("Cannot answer", True), ("Pumps.", False)])
def test_where_every_document_is_refused_rdr2_abstains_beside_the_nearest_passages_but_not_where_its_router_fails(
    pipeline: Pipelines, tmp_path: Path, reply: str, refused: bool
) -> None:
    (tmp_path / "a.md").write_text("# Pumps\n\nPumps failed. They were cheap.", encoding="utf-8")
    with ScriptedServer(lambda _: reply) as server:
        rag = pipeline(llm=server.base_url)
        rag.ingest(tmp_path, parser="rules", retriever="dense")
        result = rag.ask("Why did pumps fail?", preset="rdr2", engine="local")
    assert (bool(result.answer.abstained), bool(result.answer.nearest)) == (refused, refused)
    assert bool(result.ledger.failures) is not refused


TIDES = "# Tides\n\nThe moon pulls the sea, and so the water rises twice a day.\n"
OTHERS = {
    "bees.md": "# Bees\n\nBees dance to tell where the flowers are.\n",
    "sun.md": "# Sun\n\nThe sun pulls the sea too, less than half as much as the moon does.\n",
    "wind.md": "# Wind\n\nA strong wind piles up the water of the sea along the coast.\n",
}


@pytest.fixture
def copied(tmp_path: Path, pipeline: Pipelines) -> DiscoRAG:
    """Four texts, one of them in two folders that were ingested one after the other."""
    for folder, texts in (("a", {"tides.md": TIDES, **OTHERS}), ("b", {"tides-copy.txt": TIDES})):
        (tmp_path / folder).mkdir()
        for name, text in texts.items():
            (tmp_path / folder / name).write_text(text, "utf-8")
    rag = pipeline()
    for folder in ("a", "b"):
        rag.ingest(tmp_path / folder, parser="none")
    return rag


@pytest.mark.parametrize(
    "switches",
    [
        {"retriever": "hybrid", "top_k": 2},
        {"retriever": "dense", "top_k": 2},
        {"retriever": "all"},
        {"retriever": "snapped", "search_documents": 2, "evidence_words": 60},
        {"retriever": "discourse", "search_documents": 2, "evidence_words": 60},
    ],
    ids=lambda switches: switches["retriever"],
)
def test_a_copy_takes_no_place_of_another_source(copied: DiscoRAG, switches: dict[str, Any]) -> None:
    result = copied.ask("Does the moon pull the sea?", parser="rules", abstain="never", **switches)
    found = copied.backends.store.chunks(copied.scope(), [h.chunk_id for h in result.hits])
    titles = [c.title for c in found]
    assert sum("tides" in title.lower() for title in titles) == 1
    assert len(titles) >= 2


def test_the_answer_names_the_other_place_and_a_copy_answers_alone_or_when_the_other_is_gone(copied: DiscoRAG) -> None:
    result = copied.ask("What makes the water rise twice a day?", parser="rules")
    [places] = {e.also_in for s in result.answer.sentences for e in s.evidence if e.title == "Tides"}
    assert places == ("tides-copy.txt",)
    [copy] = [m for m in copied.documents() if m.uri.endswith("tides-copy.txt")]
    [first] = [m for m in copied.documents() if m.uri.endswith("/tides.md")]
    alone = copied.ask("What pulls the sea?", filters={"doc_id": [copy.doc_id]}, parser="rules")
    assert {e.doc_id for s in alone.answer.sentences for e in s.evidence} == {copy.doc_id}
    copied.delete(first.doc_id)
    left = copied.ask("What makes the water rise twice a day?", parser="rules")
    assert copy.doc_id in {e.doc_id for s in left.answer.sentences for e in s.evidence}
