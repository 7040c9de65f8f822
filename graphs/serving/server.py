"""uvicorn's server, which ends what is under way with an error before it leaves; uvicorn would cut it off."""

from __future__ import annotations

import asyncio
from socket import socket
from typing import Any

import uvicorn

from discorag.settings import ApiSettings

END_S = 5
"""Seconds in which requests that are ended tell their clients so."""


def options(api: ApiSettings) -> dict[str, Any]:
    """For ``uvicorn.Config``."""
    listen = {"host": api.host, "port": api.port, "log_config": None, "access_log": False, "server_header": False}
    return listen | {"timeout_graceful_shutdown": api.drain_s + END_S, "h11_max_incomplete_event_size": 16_384}


class Server(uvicorn.Server):
    """A server of one process."""

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """As uvicorn does, but that questions which last too long are stopped in time to say so."""
        patience = self.config.timeout_graceful_shutdown or END_S
        asyncio.get_running_loop().call_later(patience - END_S, self.lifespan.state["service"].stop)
        await super().shutdown(sockets)
