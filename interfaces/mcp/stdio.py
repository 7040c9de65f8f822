"""``disco-rag mcp``: one user, over this process's standard input and output."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

from discorag.config import Settings
from interfaces.facade import DiscoRAG
from interfaces.mcp.host import Alone
from interfaces.mcp.server import Server


def run(settings: Settings, folders: Sequence[Path], *, writable: bool) -> None:
    """Serve until the client closes standard input."""

    async def served() -> None:
        async with aclosing(Alone(lambda: DiscoRAG(settings), folders)) as host:
            await Server(host, writable=writable).run_stdio_async()

    asyncio.run(served())
