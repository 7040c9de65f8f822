"""The keeper: one process beside the workers that has what they share.

It works off the jobs, counts requests, questions and uploads, knows which threads are at work and, where the store is a
folder, has that open. It listens to no port. When it is killed, or says no longer that it lives, who watches starts it
again; calls wait for it. Jobs go on then, and what it only counted begins at nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from discorag.settings import Settings
from discorag.types.errors import DiscoRagError
from graphs.workers.process import begun

if TYPE_CHECKING:
    from graphs.serving.service import Shared


def keep(settings: Settings, address: str, ready: Connection[Any, Any]) -> None:
    """Be the keeper until SIGTERM; ``ready`` is sent None when calls are answered, or the error why not.

    After that whatever comes over ``ready`` is sent back, by the loop that does the work: if that hangs, nothing is.
    """
    begun(settings)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; workers end first
    try:
        asyncio.run(_kept(settings, address, ready))
    except DiscoRagError as error:
        if ready.closed:
            raise
        ready.send(error)


async def _kept(settings: Settings, address: str, ready: Connection[Any, Any]) -> None:
    from graphs.api import kept
    from graphs.facade import DiscoRAG
    from graphs.serving.access import Access, Rates
    from graphs.serving.meters import Meters
    from graphs.workers.store import STORE
    from graphs.workers.wire import Calls

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    rag = await asyncio.to_thread(DiscoRAG, settings)
    try:
        async with kept(rag, Access.of(settings, Rates()), Meters()) as shared:
            calls = Calls(address, _things(shared) | {STORE: rag.resources.store}, loop, _logged)
            await asyncio.to_thread(calls.__enter__)
            try:
                ready.send(None)
                echo: Connection[Any, Any] = Connection(os.dup(ready.fileno()))
                ready.close()
                loop.add_reader(echo.fileno(), _echoed, echo, loop)
                await stop.wait()
            finally:
                await asyncio.to_thread(calls.__exit__)
    finally:
        await asyncio.to_thread(rag.close)


def _logged(error: Exception) -> None:
    """Log what is no refusal."""
    import structlog

    from graphs.serving.problems import RefusedError

    if not isinstance(error, DiscoRagError | RefusedError | TimeoutError):
        structlog.get_logger("disco_rag.api").error("failed", exc_info=error)


def _echoed(line: Connection[Any, Any], loop: asyncio.AbstractEventLoop) -> None:
    try:
        line.send(line.recv())
    except (EOFError, OSError):  # nobody watches any more
        loop.remove_reader(line.fileno())


def _things(shared: Shared) -> dict[str, object]:
    return {name: getattr(shared, name) for name in shared.__dataclass_fields__}
