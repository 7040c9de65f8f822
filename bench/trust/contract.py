"""One contract: the index, exact search and an index in memory find the same ten chunks."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise
from pathlib import Path

from bench.promises import Figures, Trial
from bench.trust.product import write_texts
from discorag import DiscoRAG
from discorag.config import Settings, StoreSettings
from discorag.schema.document import Scope
from discorag.store.records import Hit, Retrieval, SearchQuery
from discorag.store.store import Store, open_store

DOCUMENTS = 40
TIE = 2e-5
"""Scores that differ by less may come in either order: vectors are compared in float32, in another order of sums."""


def run(trial: Trial) -> Figures:
    """``trial.count`` questions, which are sentences of the texts, each by dense and by hybrid search."""
    write_texts(trial.folder / "texts", DOCUMENTS)
    home = StoreSettings(path=trial.folder / "store", min_free_mb=0)
    with (
        DiscoRAG(Settings(store=home)) as rag,
        DiscoRAG(Settings(store=StoreSettings(kind="memory"))) as other,
        open_store(home) as exact,
    ):
        for one in (rag, other):
            one.ingest(trial.folder / "texts", parser="rules", retriever="dense")
        questions = _questions(trial)
        vectors = asyncio.run(rag.backends.encoder.encode_documents(questions))
        stores = {"index": rag.backends.store, "exact": exact, "memory": other.backends.store}
        differing, ties, compared = list[str](), 0, 0
        for question, vector in zip(questions, vectors, strict=True):
            for retrieval in ("dense", "hybrid"):
                query = SearchQuery(vector=vector, text=question, retrieval=retrieval, top_k=10)
                found = {name: _found(store, query) for name, store in stores.items()}
                compared += 1
                if len({tuple(ids) for ids in found.values()}) > 1:
                    if _is_tie(stores["exact"], query, retrieval):
                        ties += 1
                    else:
                        differing.append(f"{retrieval}: {question[:60]}")
            trial.tick()
        notes = {name: store.index_note for name, store in stores.items()}
    return {"differing": len(differing), "ties": ties, "compared": compared, "how": notes, "were": differing[:10]}


def _questions(trial: Trial) -> list[str]:
    sentences = [line for file in sorted(Path(trial.folder / "texts").iterdir()) for line in _lines(file)]
    return random.Random(trial.seed).sample(sentences, trial.count)


def _lines(file: Path) -> list[str]:
    parts = (part.strip() for line in file.read_text("utf-8").splitlines() for part in line.split(". "))
    return [part for part in parts if 4 <= len(part.split()) <= 40]


def _found(store: Store, query: SearchQuery) -> list[str]:
    return [hit.chunk_id for hit in store.search(Scope(), query)]


def _is_tie(store: Store, query: SearchQuery, retrieval: Retrieval) -> bool:
    """Whether two neighbours of the ranking by vectors have the same score but for rounding."""
    depth = 11 if retrieval == "dense" else 100
    hits: list[Hit] = store.search(Scope(), query.model_copy(update={"top_k": depth, "retrieval": "dense"}))
    return any(abs(a.score - b.score) < TIE for a, b in pairwise(hits))
