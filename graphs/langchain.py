"""The pipeline as LangChain parts: a retriever of chunks, and a runnable from question to answer."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import ConfigDict

from discorag.store.protocol import Retrieval, SearchQuery
from discorag.store.retrieval import check_query
from discorag.types.chunk import Chunk
from graphs.facade import AskResult, DiscoRAG


class DiscoRetriever(BaseRetriever):
    """Retrieves chunks as LangChain documents; their metadata holds score, offsets, headings and the RST tree.

    Args:
        rag: The opened pipeline.
        top_k: Chunks per query.
        retriever: ``dense`` or ``hybrid``.
        corpus: Corpus to search; default as configured.
        tenant: Tenant to search for; default as configured.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    rag: DiscoRAG
    top_k: int = 10
    retriever: Retrieval = "dense"
    corpus: str | None = None
    tenant: str | None = None

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self._retrieve(query)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.rag.run(lambda: self._retrieve(query))

    async def _retrieve(self, query: str) -> list[Document]:
        vector = await self.rag.resources.encoder.encode_query(check_query(query))
        search = SearchQuery(vector=vector, text=query, retrieval=self.retriever, top_k=self.top_k)
        scope, store = self.rag.scope(tenant=self.tenant, corpus=self.corpus), self.rag.resources.store
        hits = await asyncio.to_thread(store.search, scope, search)
        chunks = await asyncio.to_thread(store.chunks, scope, [h.chunk_id for h in hits])
        return [_document(chunk, hit.score) for chunk, hit in zip(chunks, hits, strict=True)]


def as_runnable(rag: DiscoRAG, **switches: Any) -> Runnable[str, AskResult]:
    """A runnable that answers a question. ``switches`` as for `DiscoRAG.ask`."""

    async def aask(question: str) -> AskResult:
        return await rag.aask(question, **switches)

    def ask(question: str) -> AskResult:
        return rag.ask(question, **switches)

    return RunnableLambda(ask, aask, name="disco-rag")


def _document(chunk: Chunk, score: float) -> Document:
    metadata: dict[str, Any] = {
        **chunk.metadata,
        "doc_id": chunk.doc_id,
        "title": chunk.title,
        "headings": list(chunk.headings),
        "start": chunk.span.start,
        "end": chunk.span.end,
        "score": score,
        "tree": chunk.tree.model_dump(mode="json") if chunk.tree else None,
    }
    return Document(id=chunk.id, page_content=chunk.text, metadata=metadata)
