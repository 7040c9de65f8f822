"""``disco-rag mcp``: one user, over this process's standard input and output."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import Field

from discorag.config import Settings
from discorag.models.loops import cancel_scope
from discorag.schema.errors import DiscoRagError, InputError
from discorag.text.escaping import one_line
from interfaces.facade import DiscoRAG
from interfaces.mcp.results import IngestOutput
from interfaces.mcp.server import Caller, Corpus, Server, run_to_end

_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def run(settings: Settings, folders: Sequence[Path], *, writable: bool) -> None:
    """Serve until the client closes standard input."""

    async def serve() -> None:
        async with aclosing(LocalServer(lambda: DiscoRAG(settings), folders, writable=writable)) as server:
            await server.run_stdio_async()

    asyncio.run(serve())


class LocalServer(Server):
    """Serves the one user of this process. The store is opened when it is first needed.

    Args:
        open_rag: Opens the pipeline; it blocks. Its settings name the tenant, and the corpus of tools that name none.
        folders: Folders below which `ingest` may read; a relative path is below the first.
        writable: Whether to offer the tool ``ingest``.
    """

    def __init__(self, open_rag: Callable[[], DiscoRAG], folders: Sequence[Path], *, writable: bool = True) -> None:
        super().__init__()
        if writable:
            self.add_tool(self.ingest, annotations=_WRITES)
        self._open_rag = open_rag
        self._folders = [folder.expanduser().resolve() for folder in folders]
        self._opening: asyncio.Task[DiscoRAG] | None = None

    async def caller(self, request: Any) -> Caller:
        """The one user. Raises what opening does; the next call tries again."""
        if self._opening is None or (self._opening.done() and self._opening.exception()):
            self._opening = asyncio.create_task(asyncio.to_thread(self._open_rag))
        return Caller(await asyncio.shield(self._opening))

    async def ingest(
        self,
        ctx: Context,
        path: Annotated[str, Field(min_length=1, max_length=4096, description="A file or a folder.")],
        corpus: Corpus = None,
        refresh: Annotated[bool, Field(description="Store unchanged documents again.")] = False,
    ) -> IngestOutput:
        """Read a file or folder (text, Markdown, HTML, PDF, DOCX, PPTX, XLSX, EPUB, CSV) into the store.

        Changed documents are replaced; of a folder, those that have vanished are deleted.
        """
        caller = await self.caller(None)
        allowed, progress = self._allowed(path), _Progress(ctx)
        with cancel_scope():
            call = caller.rag.aingest(allowed, progress=progress, corpus=corpus, refresh=refresh)
            result = await run_to_end(call)
        await progress.sent()
        return IngestOutput.of(result, caller.scope(corpus))

    def _allowed(self, given: str) -> Path:
        path = (self._folders[0] / Path(given).expanduser()).resolve()
        if not any(path.is_relative_to(folder) for folder in self._folders):
            message = f"{one_line(given, 200)} lies outside of what this server may read."
            raise InputError(message, hint=f"It may read {', '.join(map(str, self._folders))}; see --folder.")
        return path

    async def aclose(self) -> None:
        """Release the store, if it was opened."""
        if self._opening is not None:
            with suppress(DiscoRagError):
                await asyncio.to_thread((await self._opening).close)


class _Progress:
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
        report = self._ctx.report_progress(self._done, max(self._total, self._done))
        self._sending.append(asyncio.create_task(report))

    async def sent(self) -> None:
        """Wait until all progress was sent."""
        await asyncio.gather(*self._sending)
