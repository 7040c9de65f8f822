"""disco-rag: chunks alone with dense retrieval, and the default."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bench.peers.common import Task, main
from discorag import DiscoRAG, DiscoRetriever
from discorag.models.encoder import PackagedEncoder
from discorag.settings import StoreSettings, read_settings

PLAIN = {"parser": "none", "retriever": "dense"}


class Ours:
    """Files are read from their folder: that is how documents come in."""

    def __init__(self, task: Task, switches: dict[str, Any]) -> None:
        self._task, self._switches = task, switches
        settings = read_settings().model_copy(update={"store": StoreSettings(path=Path(task.home))})
        self._rag = DiscoRAG(settings)
        encoder = self._rag.resources.bare_encoder
        assert isinstance(encoder, PackagedEncoder)
        encoder.loaded()
        asyncio.run(encoder.encode_query("Once."))
        self._retriever = DiscoRetriever(rag=self._rag, retriever=switches.get("retriever"), top_k=task.top_k)

    def ingest(self, texts: dict[str, str]) -> int:
        """Also what a question is answered from: sentences' vectors, manifests, and trees where they are parsed."""
        outcomes = self._rag.ingest(self._task.papers, **self._switches).outcomes
        assert len(outcomes) == len(texts)
        return sum(m.chunks for m in self._rag.documents())

    def retrieve(self, question: str) -> int:
        """As an answer's evidence is retrieved."""
        return len({d.metadata["chunk_id"] for d in self._retriever.invoke(question)})


def plain(task: Task) -> Ours:
    """Without trees."""
    return Ours(task, PLAIN)


if __name__ == "__main__":
    main(plain)
