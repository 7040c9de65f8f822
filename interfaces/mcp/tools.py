"""The tools that read: ask, search, show_tree, show_disagreements, list_corpora, list_documents."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Annotated, Any, NamedTuple

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from discorag.discourse.formats.table import FORMATS, written
from discorag.schema.document import Scope
from discorag.schema.errors import InputError
from interfaces.facade import AskResult
from interfaces.langchain import DiscoRetriever
from interfaces.mcp import shown
from interfaces.mcp.host import Corpus, Host, Visit, to_its_end
from interfaces.mcp.shapes import Answered, Corpora, Disagreements, Documents, Hit, Hits, Listed, Trees
from nodes.options import CHUNK_RETRIEVERS, DEFAULT_RETRIEVER, RetrieverName

MOST = 10**9
Question = Annotated[str, Field(min_length=1, max_length=4000, description="The question, self-contained.")]
DocId = Annotated[str, Field(max_length=100, description="The document's id, as list_documents and search give it.")]
Retriever = Annotated[RetrieverName, Field(description="How evidence is found; the default is a good one.")]
SOURCES_ONLY = {"planner": "local", "generator": "local", "abstain": "never"}
"""For disagreements: nobody reads the answer."""


class _Place(NamedTuple):
    """A visit, and the scope that it is about."""

    visit: Visit
    scope: Scope


class Tools:
    """The tools over a host. Every docstring here is read by language models: it says when to use the tool."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def ask(
        self,
        ctx: Context,
        question: Question,
        instruction: Annotated[str, Field(max_length=4000, description="How to answer; not searched for.")] = "",
        corpus: Corpus = None,
        retriever: Retriever = DEFAULT_RETRIEVER,
    ) -> Annotated[CallToolResult, Answered]:
        """Answer a question from the stored documents.

        Every sentence names its sources, exact to the character, or is marked as not supported or not verified;
        disagreements between sources are listed. Use search where you want passages to read yourself.
        """
        switches = {"instruction": instruction, "retriever": retriever}
        return shown.answered(await self._answer(ctx, question, corpus, switches))

    async def show_disagreements(
        self, ctx: Context, question: Question, corpus: Corpus = None
    ) -> Annotated[CallToolResult, Disagreements]:
        """Say where the stored documents contradict each other on a question, with the passages of both sides."""
        return shown.disagreements((await self._answer(ctx, question, corpus, SOURCES_ONLY)).answer)

    async def _answer(self, ctx: Context, question: str, corpus: str | None, switches: dict[str, Any]) -> AskResult:
        visit, scope = await self._place(ctx, corpus)

        async def run() -> AskResult:
            given = switches | scope.model_dump()
            async with visit.asking(question), aclosing(visit.rag.astream(question, **given)) as parts:
                done = 0
                async for part in parts:
                    if isinstance(part, AskResult):
                        return part
                    if part.get("event") == "start":
                        done += 1
                        await ctx.report_progress(done, message=part["stage"])
            raise InputError("The run ended without an answer.")

        result = await to_its_end(run())
        await visit.answered(scope, result)
        return result

    async def search(
        self,
        ctx: Context,
        question: Question,
        limit: Annotated[int, Field(ge=1, le=100, description="Passages at most.")] = 10,
        corpus: Corpus = None,
        retriever: Retriever = DEFAULT_RETRIEVER,
    ) -> Annotated[CallToolResult, Hits]:
        """Find the passages of the stored documents that bear on a question, without answering it."""
        visit, scope = await self._place(ctx, corpus)
        over_chunks = {"top_k": limit} if retriever in CHUNK_RETRIEVERS else {}
        finder = DiscoRetriever(rag=visit.rag, retriever=retriever, **over_chunks, **scope.model_dump())

        async def run() -> Hits:
            async with visit.asking(question):
                return Hits(passages=[Hit.found(d) for d in (await finder.ainvoke(question))[:limit]])

        found = await to_its_end(run())
        visit.tell("read", scope, [p.doc_id for p in found.passages])
        return shown.hits(found)

    async def show_tree(
        self,
        ctx: Context,
        doc_id: DocId,
        chunk: Annotated[int, Field(ge=0, le=MOST, description="The first chunk that is shown, from 0.")] = 0,
        count: Annotated[int, Field(ge=1, le=100, description="Chunks; rs3, rs4, dis and json hold one.")] = 1,
        format: Annotated[str, Field(max_length=20, json_schema_extra={"enum": [*FORMATS]})] = "text",
        corpus: Corpus = None,
    ) -> Annotated[CallToolResult, Trees]:
        """Show how the sentences of a document hang together: the RST trees of its chunks, nuclei and satellites."""
        visit, scope = await self._place(ctx, corpus)
        stored = await asyncio.to_thread(visit.rag.backends.store.chunks_of, scope, doc_id)
        chosen = stored[chunk : chunk + count]
        if not chosen:
            raise InputError(f"This document has no chunk {chunk}.", hint=f"It has {len(stored)}, from 0.")
        visit.tell("read", scope, [doc_id])
        drawn = await asyncio.to_thread(written, chosen, format)
        numbers, title = [c.order for c in chosen], chosen[0].title
        trees = Trees(doc_id=doc_id, title=title, chunks=numbers, total=len(stored), format=format, trees=drawn)
        return shown.trees(trees)

    async def list_corpora(self, ctx: Context) -> Annotated[CallToolResult, Corpora]:
        """List the corpora (named sets of documents) that the other tools can be asked about, with their sizes."""
        visit = await self._host.visit(ctx.request_context.request)
        return shown.corpora(Corpora(corpora=await asyncio.to_thread(visit.rag.corpora, tenant=visit.tenant)))

    async def list_documents(
        self,
        ctx: Context,
        offset: Annotated[int, Field(ge=0, le=MOST, description="Documents to pass over.")] = 0,
        limit: Annotated[int, Field(ge=1, le=1000, description="Documents at most.")] = 100,
        corpus: Corpus = None,
    ) -> Annotated[CallToolResult, Documents]:
        """List the stored documents, with the ids that the other tools take."""
        visit, scope = await self._place(ctx, corpus)
        stored = await asyncio.to_thread(visit.rag.backends.store.manifests, scope)
        part = stored[offset : offset + limit]
        if part:
            visit.tell("listed", scope, [m.doc_id for m in part])
        return shown.documents(Documents(total=len(stored), documents=[Listed.of(m) for m in part]))

    async def _place(self, ctx: Context, corpus: str | None) -> _Place:
        visit = await self._host.visit(ctx.request_context.request)
        return _Place(visit, visit.rag.scope(tenant=visit.tenant, corpus=corpus))
