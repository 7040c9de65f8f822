"""Questions while documents are deleted, replaced and indexed again: each is answered from what was stored."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from discorag import DiscoRAG
from discorag.schema.errors import DiscoRagError
from tests.conftest import Pipelines
from tests.graphs.scripts import QUERY, TEXTS, write_texts

NEWER = "A newer trial: vitamin D lowered the incidence of influenza by 40 % in children. It lasted a year."
READS = (
    *("search", "search_documents", "search_words", "stored_chunks", "manifests", "source_names"),
    *("tree_versions", "outlines", "node_scores", "check_trees", "chunk_spans"),
)
"""What a question reads of the store, one after the other."""


def elsewhere(change: Callable[[], object]) -> None:
    """Change the store in another thread, as another request does, and wait for it."""
    thread = Thread(target=change)
    thread.start()
    thread.join()


def once_after(store: Any, read: str, change: Callable[[], object], patch: pytest.MonkeyPatch) -> None:
    """Make the change after the first call of this method."""
    original, changed = getattr(store, read), Event()

    def called(*arguments: Any, **named: Any) -> Any:
        found = original(*arguments, **named)
        if not changed.is_set():
            changed.set()
            elsewhere(change)
        return found

    patch.setattr(store, read, called)


def texts_of(rag: DiscoRAG, **options: Any) -> list[str]:
    """The evidence of an answer."""
    result = rag.ask(QUERY, **options)
    return [e.text for sentence in result.answer.sentences for e in sentence.evidence]


@pytest.mark.parametrize("retriever", ["hybrid", "all", "discourse", "raptor"])
@pytest.mark.parametrize("is_replaced", [False, True])
def test_what_vanishes_while_a_question_reads_it_is_left_out_or_searched_again(
    retriever: str, is_replaced: bool, pipeline: Pipelines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag, folder = pipeline(), tmp_path / "texts"
    for number, read in enumerate(READS):
        write_texts(folder, TEXTS)
        rag.ingest(folder)
        best = folder / "a.txt"

        def change(best: Path = best, number: int = number) -> None:
            if is_replaced:
                best.write_text(f"{NEWER} It was trial {number}.", "utf-8")
                rag.ingest(best)
            else:
                store, scope = rag.backends.store, rag.scope()
                assert store.delete(scope, scope.id_of(str(best.resolve())))

        with monkeypatch.context() as patch:
            once_after(rag.backends.store, read, change, patch)
            quoted = texts_of(rag, retriever=retriever)
        stored = [*TEXTS.values(), f"{NEWER} It was trial {number}."]
        assert quoted
        assert all(any(quote in text for text in stored) for quote in quoted), (read, quoted)


def test_no_question_fails_while_others_delete_replace_and_reindex(pipeline: Pipelines, tmp_path: Path) -> None:
    rag, folder, ended = pipeline(kind="edge"), write_texts(tmp_path / "texts"), Event()
    rag.ingest(folder)
    store, scope, failures = rag.backends.store, rag.scope(), list[DiscoRagError]()

    def change() -> None:
        for turn in range(10_000):
            if ended.is_set():
                return
            changed = folder / ("a.txt", "b.txt")[turn % 2]
            store.delete(scope, scope.id_of(str(changed.resolve())))
            changed.write_text(f"{TEXTS[changed.name]} This is version {turn}.", "utf-8")
            rag.ingest(changed)
            if turn % 5 == 0:
                store.reindex()

    async def ask(retriever: str) -> None:
        try:
            await rag.aask(QUERY, retriever=retriever)
        except DiscoRagError as error:
            failures.append(error)

    async def ask_all() -> None:
        for _ in range(3):
            await asyncio.gather(*(ask(name) for name in ("hybrid", "dense", "all", "discourse") * 3))

    changing = Thread(target=change)
    changing.start()
    try:
        rag.run(ask_all)
    finally:
        ended.set()
        changing.join()
    assert not failures
