"""Questions to a store that another process owns, such as one that reads documents into it: the owner answers them.

The embedded store has one owner at a time, and a copy for readers would be old as soon as it is made; the owner has the
store, its models and the documents that it stored a moment ago. It listens on a socket in the store's folder, which is
its user's alone, while `answering` lasts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from discorag.settings import StoreSettings
from discorag.store.disk.lock import SOCKET_FILE
from discorag.types.errors import DiscoRagError, StoreLockedError
from graphs.facade import AskResult, DiscoRAG

_LONGEST = 100  # bytes of a socket's path: the system takes few more
_LINE = 1_000_000  # bytes of a question with its switches


def socket_of(store: StoreSettings) -> Path | None:
    """Where the owner of this store listens; None where it does not."""
    path = store.path.resolve() / SOCKET_FILE
    embedded = store.url is None and store.kind != "memory"
    return path if embedded and len(str(path).encode()) <= _LONGEST else None


@asynccontextmanager
async def answering(rag: DiscoRAG) -> AsyncGenerator[None]:
    """Answer the questions of other processes of this user."""
    path = socket_of(rag.resources.settings.store)
    if path is None:
        yield
        return
    path.unlink(missing_ok=True)  # of an owner that was killed: there is no other one
    server = await asyncio.start_unix_server(lambda r, w: _serve(rag, r, w), path, limit=_LINE)
    path.chmod(0o600)
    try:
        yield
    finally:
        server.close()
        path.unlink(missing_ok=True)


async def _serve(rag: DiscoRAG, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One question; it is given up when whoever asked has left."""
    reply = asyncio.create_task(_answered(rag, await reader.readline()))
    left = asyncio.create_task(reader.read(1))
    try:
        await asyncio.wait({reply, left}, return_when=asyncio.FIRST_COMPLETED)
        if reply.done():
            writer.write(reply.result())
    finally:
        reply.cancel()
        left.cancel()
        writer.close()


async def _answered(rag: DiscoRAG, line: bytes) -> bytes:
    try:
        given = json.loads(line)
        result = await rag.aask(given["question"], **given["switches"])
    except DiscoRagError as error:
        return json.dumps({"kind": error.kind, "message": error.message, "hint": error.hint}).encode()
    return json.dumps({"result": result.model_dump(mode="json")}).encode()


class _TheirError(DiscoRagError):
    """What the owner said."""

    def __init__(self, message: str, *, hint: str, kind: str) -> None:
        super().__init__(message, hint=hint)
        self._kind = kind

    @property
    def kind(self) -> str:
        return self._kind


async def asked(store: StoreSettings, question: str, switches: dict[str, Any]) -> AskResult | None:
    """What the owner of the store answers; None if it does not listen.

    Raises:
        DiscoRagError: What the owner could not do, in its words.
        StoreLockedError: It went away.
    """
    path = socket_of(store)
    try:
        reader, writer = await asyncio.open_unix_connection(path)
    except (OSError, ValueError):
        return None
    writer.write(json.dumps({"question": question, "switches": switches}).encode() + b"\n")
    reply = await reader.read()
    writer.close()
    if not reply:
        raise StoreLockedError("The process that owns the store ended before it answered.", hint="Ask again.")
    told = json.loads(reply)
    if "result" not in told:
        raise _TheirError(told["message"], hint=told["hint"], kind=told["kind"])
    return AskResult.model_validate(told["result"])
