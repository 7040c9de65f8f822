"""Background tasks that close what they have open before they end."""

import asyncio
from typing import Any

from anyio import move_on_after

CLOSING_S = 5.0
"""Seconds to wait until a task that was given up has closed what it had open."""


async def end_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has closed what it had open, even where the caller is being cancelled.

    When a client leaves, Starlette and MCP cancel every ``await`` of its request, so the request's own task could close
    nothing.
    """
    task.cancel()
    with move_on_after(CLOSING_S, shield=True):
        await asyncio.wait({task})
