"""A TCP relay that can go away, as a server does while it restarts."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Self

from bench.serving.server import free_port

_PIECE = 65_536


class Relay:
    """Hands connections to ``127.0.0.1:target`` on, in a thread, between ``with`` and its end.

    Args:
        target: Port of the server behind it.
    """

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._open: set[asyncio.StreamWriter] = set()

    def up(self) -> None:
        """Listen."""
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()

    def down(self) -> None:
        """Drop every connection where it stands, and refuse new ones."""
        asyncio.run_coroutine_threadsafe(self._drop(), self._loop).result()

    def __enter__(self) -> Self:
        self._thread.start()
        self.up()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.down()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._hand_on, "127.0.0.1", self.port)

    async def _drop(self) -> None:
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        while self._open:
            await asyncio.sleep(0.01)

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        beyond = await asyncio.open_connection("127.0.0.1", self._target)
        pair = {writer, beyond[1]}
        self._open |= pair
        try:
            await asyncio.gather(_copy(reader, beyond[1]), _copy(beyond[0], writer))
        finally:
            self._open -= pair


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()
