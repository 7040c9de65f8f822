"""LangChain parts: a retriever, and tools that search and that answer."""

# LangGraph and LangChain leave their own generics open:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
import asyncio
from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool, create_retriever_tool
from pydantic import Field

from discorag.generation.views import answer_markdown
from discorag.schema.answer import Answer
from discorag.schema.document import Chunk
from discorag.schema.errors import EmptyCorpusError
from discorag.schema.metadata import GivenFilters
from discorag.schema.values import Span
from graphs.answer import graph as answer_graph
from graphs.retrieve import graph
from interfaces.facade import DiscoRAG
from nodes.context import AnswerContext
from nodes.state import Json

TOOL = "search_documents"
ANSWER_TOOL = "answer_from_documents"
_PASSAGE = PromptTemplate.from_template("[{title}] {page_content}")


class DiscoRetriever(BaseRetriever, arbitrary_types_allowed=True):
    """Retrieves evidence as LangChain documents, by any of the retrievers.

    A retriever over chunks gives whole chunks; one over trees gives the passages that it chose in them. A document's
    metadata holds score, offsets, headings, the chunk's id and its RST tree: ``source[start:end]`` is its text.

    Args:
        rag: The opened pipeline.
        retriever: Name of a retriever; default as for `DiscoRAG.ask`.
        top_k: Chunks per query, of a retriever over chunks.
        corpus: Corpus to search; default as configured.
        tenant: Tenant to search for; default as configured.
        filters: As for `DiscoRAG.ask`.
        switches: Further fields of `nodes.context.AnswerContext`, such as ``evidence_words``.

    Example:
        >>> from discorag import DiscoRetriever
        >>> _ = rag.ingest(notes, retriever="dense")
        >>> found = DiscoRetriever(rag=rag, retriever="dense", top_k=1).invoke("Does it help?")
        >>> len(found), sorted(found[0].metadata)[:3]
        (1, ['chunk_id', 'doc_id', 'end'])
    """

    rag: DiscoRAG
    retriever: str | None = None
    top_k: int | None = None
    corpus: str | None = None
    tenant: str | None = None
    filters: GivenFilters = Field(default_factory=dict[str, Any])
    switches: dict[str, Any] = Field(default_factory=dict[str, Any])

    def tool(self, description: str = "Finds passages of the documents.") -> BaseTool:
        """A tool for agents that searches like this retriever; every passage follows the title of its document."""
        return create_retriever_tool(self, TOOL, description, document_prompt=_PASSAGE)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self._retrieve(query)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.rag.run(lambda: self._retrieve(query))

    async def _retrieve(self, query: str) -> list[Document]:
        """The passages; none if the corpus is empty. Raises `InputError` for unknown or contradictory switches."""
        named = {"retriever": self.retriever, "top_k": self.top_k, "corpus": self.corpus, "tenant": self.tenant}
        given = {name: value for name, value in named.items() if value is not None}
        context = self.rag.context(AnswerContext, given | self.switches)
        try:
            asked = {"query": query, "filters": self.filters}
            state = await graph.ainvoke(asked, context=context, output_keys=["hits", "evidence"])
        except EmptyCorpusError:
            return []
        ids, scope, store = [hit["chunk_id"] for hit in state["hits"]], await context.scope(), self.rag.backends.store
        chunks = await asyncio.to_thread(store.stored_chunks, scope, ids)
        names, parts = await asyncio.to_thread(store.source_names, scope, chunks.values()), state.get("evidence", {})
        hits = [(chunks[hit["chunk_id"]], hit) for hit in state["hits"] if hit["chunk_id"] in chunks]
        return [document for c, hit in hits for document in _documents(c, names[c.uri], hit, parts)]


def answer_tool(
    description: str = "Answers a question from the documents, with its sources.", **options: Any
) -> BaseTool:
    """A tool for agents that runs the answer graph; it takes a ``question``.

    The agent reads the answer as Markdown, with numbered sources and disagreements. The tool message's artifact is
    `discorag.schema.answer.Answer` as JSON.

    Args:
        description: What the tool does, for the agent.
        **options: Fields of `nodes.context.AnswerContext`, such as ``corpus``.

    Raises:
        InputError: An option is unknown or impossible.
    """
    context = AnswerContext(**options)

    def ask(question: str) -> tuple[str, Json]:
        return _read(answer_graph.invoke({"query": question}, context=context))

    async def aask(question: str) -> tuple[str, Json]:
        return _read(await answer_graph.ainvoke({"query": question}, context=context))

    return StructuredTool.from_function(
        ask, aask, ANSWER_TOOL, description, response_format="content_and_artifact", infer_schema=True
    )


def _read(state: Json) -> tuple[str, Json]:
    answer = Answer.model_validate(state["answer"])
    return "".join(answer_markdown(answer)).strip(), state["answer"]


def _documents(chunk: Chunk, title: str, hit: Json, evidence: dict[str, list[list[int]]]) -> Iterator[Document]:
    """The passages that were chosen in a chunk, in text order, as far as they lie in it; the chunk if none was.

    A summary's start and end are those of what it is a summary of.
    """
    first, last = chunk.span.start, chunk.span.end
    chosen = [Span(start=max(a, first), end=min(b, last)) for a, b in sorted(evidence.get(chunk.id, ()))]
    for span in chosen or [chunk.span]:
        start = chunk.stands_for[0].start if chunk.stands_for else span.start
        metadata: dict[str, Any] = {
            **chunk.metadata,
            "doc_id": chunk.doc_id,
            "chunk_id": chunk.id,
            "title": title,
            "headings": list(chunk.headings),
            "page": chunk.page_at(start),
            "regions": [r.model_dump() for r in chunk.regions_at(span)],
            "start": start,
            "end": chunk.stands_for[-1].end if chunk.stands_for else span.end,
            "score": hit["score"],
            "tree": chunk.tree.model_dump(mode="json") if chunk.tree else None,
        }
        name = f"{chunk.id}/{span.start}-{span.end}" if chosen else chunk.id
        yield Document(id=name, page_content=chunk.slice(span), metadata=metadata)
