"""A server beside others on one socket."""

from __future__ import annotations

import asyncio
import signal
import sys
from socket import socket

from graphs.serving.server import END_S, Server

POLL_S = 0.05


def _end(*_: object) -> None:
    sys.exit()


class Replaceable(Server):
    """A server beside others that go on listening to its socket: what has reached it is answered, so none is lost.

    A connection may be idle to us while a request is on its way. So none is closed before it had as much time as an
    idle one always has, and every answer says that the connection ends with it.
    """

    def run(self, sockets: list[socket] | None = None) -> None:
        """Until SIGTERM, which uvicorn raises once more when all is closed."""
        signal.signal(signal.SIGTERM, _end)
        super().run(sockets)

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """As `Server` does, when connections without a request have had their time."""
        loop, patience = asyncio.get_running_loop(), self.config.timeout_graceful_shutdown or END_S
        self.server_state.default_headers.append((b"connection", b"close"))
        for server in self.servers:
            server.close()
        start, idle_s = loop.time(), min(self.config.timeout_keep_alive, patience - END_S)
        while self.server_state.connections and loop.time() < start + idle_s:
            await asyncio.sleep(POLL_S)
        self.config.timeout_graceful_shutdown = patience - round(loop.time() - start)
        await super().shutdown(sockets)
