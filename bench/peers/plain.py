"""disco-rag without trees: chunks alone, with dense retrieval."""

import asyncio
from pathlib import Path
from typing import Any

from bench.peers.common import Task, main
from discorag import DiscoRAG, DiscoRetriever
from discorag.config import StoreSettings, read_settings


class Ours:
    """The product. Files are read from their folder: that is how documents come in."""

    def __init__(self, task: Task, **options: Any) -> None:
        self._task, self._options = task, options
        settings = read_settings().model_copy(update={"store": StoreSettings(path=Path(task.home))})
        self._rag = DiscoRAG(settings)
        asyncio.run(self._rag.backends.bare_encoder.encode_query("Once."))
        self._retriever = DiscoRetriever(rag=self._rag, retriever="dense", top_k=task.top_k)
        self._reranking = self._retriever.model_copy(update={"switches": {"rerank": True}})

    def ingest(self, texts: dict[str, str]) -> int:
        """Also makes what an answer is quoted from: sentences, their vectors and, unless switched off, their trees."""
        outcomes = self._rag.ingest(self._task.papers, **self._options).outcomes
        assert len(outcomes) == len(texts)
        return sum(manifest.chunks for manifest in self._rag.documents())

    def retrieve(self, question: str) -> int:
        """By vectors."""
        return _chunks(self._retriever, question)

    def rerank(self, question: str) -> int:
        """By the same cross-encoder, which reads one pair at a time."""
        return _chunks(self._reranking, question)


def _chunks(retriever: DiscoRetriever, question: str) -> int:
    return len({document.metadata["chunk_id"] for document in retriever.invoke(question)})


def plain(task: Task) -> Ours:
    """Without trees."""
    return Ours(task, parser="none", retriever="dense")


if __name__ == "__main__":
    main(plain)
