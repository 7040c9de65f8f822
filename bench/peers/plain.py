"""disco-rag: chunks alone with dense retrieval, and the default."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bench.peers.common import Task, main
from discorag import DiscoRAG, DiscoRetriever
from discorag.config import StoreSettings, read_settings

PLAIN = {"parser": "none", "retriever": "dense"}


class Ours:
    """Files are read from their folder: that is how documents come in."""

    def __init__(self, task: Task, switches: dict[str, Any]) -> None:
        self._task, self._switches = task, switches
        settings = read_settings().model_copy(update={"store": StoreSettings(path=Path(task.home))})
        self._rag = DiscoRAG(settings)
        asyncio.run(self._rag.backends.bare_encoder.encode_query("Once."))
        self._retriever = DiscoRetriever(rag=self._rag, retriever=switches.get("retriever"), top_k=task.top_k)
        self._reranking = self._retriever.model_copy(update={"switches": {"rerank": True}})

    def ingest(self, texts: dict[str, str]) -> int:
        """Also what a question is answered from: sentences' vectors, manifests, and trees where they are parsed."""
        outcomes = self._rag.ingest(self._task.papers, **self._switches).outcomes
        assert len(outcomes) == len(texts)
        return sum(m.chunks for m in self._rag.documents())

    def retrieve(self, question: str) -> int:
        """As an answer's evidence is retrieved."""
        return _chunks(self._retriever, question)

    def rerank(self, question: str) -> int:
        """By the product's own reranker, which is the same cross-encoder."""
        return _chunks(self._reranking, question)


def _chunks(retriever: DiscoRetriever, question: str) -> int:
    return len({document.metadata["chunk_id"] for document in retriever.invoke(question)})


def plain(task: Task) -> Ours:
    """Without trees."""
    return Ours(task, PLAIN)


if __name__ == "__main__":
    main(plain)
