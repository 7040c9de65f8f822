"""Who is served: the one user of this process here, the owners of keys in `interfaces.mcp.http`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

from anyio import move_on_after
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from discorag.models.cancellation import cancel_scope
from discorag.schema.document import Scope
from discorag.schema.errors import DiscoRagError, InputError
from discorag.schema.ids import stable_id
from discorag.text.escaping import one_line
from interfaces.facade import AskResult, DiscoRAG
from interfaces.mcp.shapes import Ingested, Outcome
from interfaces.mcp.shown import ingested

T = TypeVar("T")
Corpus = Annotated[str | None, Field(max_length=200, description="Named set of documents. None: as configured.")]
LEAVING_S = 5.0
"""How long a call that is given up is waited for, in seconds, until it has closed what it had open."""


class Visit(Protocol):
    """One request of somebody: the pipeline, whose documents it may see, and what it counts for."""

    @property
    def rag(self) -> DiscoRAG:
        """The pipeline."""
        ...

    @property
    def tenant(self) -> str | None:
        """Whose documents; None: as configured."""
        ...

    def asking(self, question: str) -> AbstractAsyncContextManager[None]:
        """A block that answers a question, counted and limited in time."""
        ...

    async def answered(self, scope: Scope, result: AskResult) -> None:
        """Note what an answer was made from, and cost."""
        ...

    def tell(self, what: str, scope: Scope, documents: Sequence[str]) -> None:
        """Note that these documents were shown."""
        ...


class Host(Protocol):
    """Serves visits."""

    @property
    def ingest(self) -> Callable[..., Coroutine[Any, Any, CallToolResult]]:
        """The tool that stores documents."""
        ...

    async def visit(self, request: Any) -> Visit:
        """The visit of a request: Starlette's over HTTP, None over stdio."""
        ...

    def may_write(self, request: Any) -> bool:
        """Whether who asks may ingest."""
        ...

    def said(self, error: BaseException | None) -> str | None:
        """What the client is told of an error; None if it was not raised on purpose."""
        ...


async def to_its_end(call: Coroutine[Any, Any, T]) -> T:
    """The call's result, from a task of its own.

    A client that gives up has every ``await`` of the request cancelled anew, so that nothing could be closed in it.
    """
    task = asyncio.create_task(call)
    try:
        await asyncio.wait({task})  # to await the task itself would cancel it once more
        return task.result()
    finally:
        task.cancel()
        with move_on_after(LEAVING_S, shield=True):
            await asyncio.wait({task})


class Alone:
    """The one user of this process, over stdio. The store is opened when it is first needed.

    Args:
        opened: Opens the pipeline; it blocks. Its settings' tenant is served, and their corpus where none is named.
        folders: What may be ingested lies below one of these; a relative path is one below the first.
    """

    rag: DiscoRAG
    tenant: str | None = None

    def __init__(self, opened: Callable[[], DiscoRAG], folders: Sequence[Path]) -> None:
        self._opened = opened
        self._folders = [folder.expanduser().resolve() for folder in folders]
        self._opening: asyncio.Task[DiscoRAG] | None = None

    async def visit(self, request: Any) -> Visit:
        """Raises what opening does; the next visit tries again."""
        if self._opening is None or (self._opening.done() and self._opening.exception()):
            self._opening = asyncio.create_task(asyncio.to_thread(self._opened))
        self.rag = await asyncio.shield(self._opening)
        return self

    def may_write(self, request: Any) -> bool:
        """They may."""
        return True

    def said(self, error: BaseException | None) -> str | None:
        """See `Host.said`."""
        return one_line(f"{error.kind}: {error}", 2000) if isinstance(error, DiscoRagError) else None

    @asynccontextmanager
    async def asking(self, question: str) -> AsyncGenerator[None]:
        """Nothing is counted."""
        with cancel_scope():
            yield

    async def answered(self, scope: Scope, result: AskResult) -> None:
        """Nobody keeps account."""

    def tell(self, what: str, scope: Scope, documents: Sequence[str]) -> None:
        """Nobody keeps account."""

    async def ingest(
        self,
        ctx: Context,
        path: Annotated[str, Field(min_length=1, max_length=4096, description="A file or a folder.")],
        corpus: Corpus = None,
        refresh: Annotated[bool, Field(description="Store unchanged documents again.")] = False,
    ) -> Annotated[CallToolResult, Ingested]:
        """Read a file or folder (text, Markdown, HTML, PDF, DOCX, CSV, JSON) into the store, so that questions find it.

        Changed documents are replaced; of a folder, those that have vanished are deleted.
        """
        await self.visit(None)
        wanted, scope, reports = self._allowed(path), self.rag.scope(corpus=corpus), _Reports(ctx)
        with cancel_scope():
            result = await to_its_end(self.rag.aingest(wanted, progress=reports, corpus=corpus, refresh=refresh))
        await reports.sent()
        outcomes = [
            Outcome(
                doc_id=stable_id(scope.tenant, scope.corpus, o.uri),
                name=Path(o.uri).name,
                status=str(o.status),
                chunks=o.chunks,
                note=o.note,
            )
            for o in result.outcomes
        ]
        return ingested(outcomes)

    def _allowed(self, given: str) -> Path:
        path = (self._folders[0] / Path(given).expanduser()).resolve()
        if not any(path.is_relative_to(folder) for folder in self._folders):
            said = f"{one_line(given, 200)} lies outside of what this server may read."
            raise InputError(said, hint=f"It may read {', '.join(map(str, self._folders))}; see --folder.")
        return path

    async def aclose(self) -> None:
        """Release the store, if it was opened."""
        if self._opening is not None:
            with suppress(DiscoRagError):
                await asyncio.to_thread((await self._opening).close)


class _Reports:
    """Tells the client how many documents are done, of how many."""

    def __init__(self, ctx: Context) -> None:
        self._ctx, self._done, self._total = ctx, 0, 0
        self._sending: list[asyncio.Task[None]] = []

    def __call__(self, event: dict[str, Any]) -> None:
        """Take an event of the ingest graph."""
        if event["event"] not in ("found", "document"):
            return
        self._total = event.get("documents", self._total)
        self._done += event["event"] == "document"
        said = self._ctx.report_progress(self._done, max(self._total, self._done))
        self._sending.append(asyncio.create_task(said))

    async def sent(self) -> None:
        """Wait until all has been told."""
        await asyncio.gather(*self._sending)
