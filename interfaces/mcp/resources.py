"""The resources: canonical texts and trees of documents, listed in pages."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, ListResourcesResult, Resource

from discorag.discourse.formats.table import written
from discorag.schema.chunk import Chunk
from discorag.store.records import Manifest
from discorag.text.escaping import one_line
from interfaces.mcp.host import Host
from interfaces.mcp.shapes import Listed

PAGE = 50
"""Documents of one page of the list, each with its tree."""
TEXT = "text/plain"


class Shelf:
    """The documents of a host as resources."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def document(self, doc_id: str, ctx: Context, corpus: str | None = None) -> str:
        """The canonical text of a document, to which all offsets refer."""
        visit = await self._host.visit(ctx.request_context.request)
        scope = visit.rag.scope(tenant=visit.tenant, corpus=corpus)
        found = await asyncio.to_thread(visit.rag.backends.store.document, scope, doc_id)
        visit.tell("read", scope, [doc_id])
        return found.text

    async def trees(self, doc_id: str, ctx: Context, corpus: str | None = None) -> str:
        """The RST trees of a document's chunks, drawn in text."""
        visit = await self._host.visit(ctx.request_context.request)
        scope = visit.rag.scope(tenant=visit.tenant, corpus=corpus)

        def drawn() -> str:
            chunks: list[Chunk] = visit.rag.backends.store.chunks_of(scope, doc_id)
            return written(chunks, "text")

        found = await asyncio.to_thread(drawn)
        visit.tell("read", scope, [doc_id])
        return found

    async def page(self, request: Any, cursor: str | None) -> ListResourcesResult:
        """Documents of the corpus that is configured, from ``cursor`` on, which the page before it gave."""
        if not (cursor or "0").isdecimal():
            raise MCPError(INVALID_PARAMS, "The cursor is none of this server's.")
        visit, start = await self._host.visit(request), int((cursor or "0")[:9])
        scope = visit.rag.scope(tenant=visit.tenant)
        stored = await asyncio.to_thread(visit.rag.backends.store.manifests, scope)
        part, end = stored[start : start + PAGE], start + PAGE
        if part:
            visit.tell("listed", scope, [m.doc_id for m in part])
        listed = [resource for m in part for resource in _both(m)]
        return ListResourcesResult(resources=listed, next_cursor=str(end) if end < len(stored) else None)


def _both(m: Manifest) -> list[Resource]:
    name, title = Listed.of(m).name, one_line(m.title)
    document = Resource(uri=f"disco-rag://documents/{m.doc_id}", name=one_line(name), title=title, mime_type=TEXT)
    tree = {"uri": f"disco-rag://trees/{m.doc_id}", "title": one_line(f"Trees of {m.title}")}
    return [document, document.model_copy(update=tree)]
