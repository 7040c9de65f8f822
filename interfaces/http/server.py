"""uvicorn with limits: for the head of a request, and for the time that a process takes to stop."""

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from socket import socket
from threading import Thread, Timer
from types import FrameType
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI
from structlog.tracebacks import ExceptionDictTransformer
from structlog.types import ExcInfo, Processor
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.supervisors import multiprocess

from discorag.config import ApiSettings, Settings
from interfaces.http.access import LOGGER
from interfaces.http.jobs import Uploads
from interfaces.http.problems import ACCESS_LOGGER

HEAD_BYTES = 16_384
"""Largest head of a request. Only uvicorn's h11 protocol has such a limit; httptools would read without end."""
HEAD_S = 5
"""Seconds between two checks of idle connections: a head has once to twice this time to arrive."""
END_S = 5
"""Seconds in which requests that are stopped send their clients an error."""
CLOSE_S = 5
"""Seconds in which store and jobs are closed; then the process exits, even if a thread still computes."""
_TICKS_PER_S = 10
_Idle = tuple[H11Protocol, RequestResponseCycle | None]
_WHOLE = ExceptionDictTransformer(show_locals=False)


class Server(uvicorn.Server):
    """A server of one process.

    Connections without a request in progress are closed: those that send no head or half of one, that continue to send
    a body after the answer, or that do not read the end of an answer. Requests in progress have the deadline of
    `interfaces.http.problems.RequestLimits`.

    Args:
        app: The API.
        api: Where to listen, and for how long requests may last at the end.
        on_start: Called in a thread when the server listens.
    """

    def __init__(self, app: FastAPI, api: ApiSettings, *, on_start: Callable[[], object] | None = None) -> None:
        config = uvicorn.Config(
            app,
            host=api.host,
            port=api.port,
            http="h11",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=api.drain_s + END_S,
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
        super().__init__(config)
        self._idle, self._on_start = frozenset[_Idle](), on_start

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen; then call ``on_start``."""
        await super().startup(sockets)
        if self._on_start and self.started:
            await asyncio.to_thread(self._on_start)

    async def on_tick(self, counter: int) -> bool:
        """What uvicorn calls ten times a second."""
        if counter % (HEAD_S * _TICKS_PER_S) == 0:
            self.close_idle()
        return await super().on_tick(counter)

    def close_idle(self) -> None:
        """Close the connections that were idle at the last call and have not begun a request since."""
        connections = (c for c in self.server_state.connections if isinstance(c, H11Protocol))
        idle = frozenset[_Idle]((c, c.cycle) for c in connections if _is_idle(c))
        for connection, _ in idle & self._idle:
            if connection.transport.is_closing():  # the client did not read the rest
                connection.transport.abort()
            else:
                connection.transport.close()
        self._idle = idle

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End the server as uvicorn does; questions that last longer than ``drain_s`` are stopped with an error."""
        asyncio.get_running_loop().call_later(self._patience_s - END_S, self.lifespan.state["service"].stop)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the server after a signal; the process exits in time, even if a thread cannot be stopped."""
        end = Timer(self._patience_s + CLOSE_S, os._exit, (1,))
        end.daemon = True
        end.start()
        super().handle_exit(sig, frame)

    @property
    def _patience_s(self) -> int:
        return self.config.timeout_graceful_shutdown or END_S


class Workers(multiprocess.Multiprocess):
    """Servers in processes of their own that share a port; one that dies is replaced."""

    def __init__(self, settings: Settings, count: int) -> None:
        config = _WorkerConfig(settings, count)
        super().__init__(config, [config.bind_socket()])

    def run(self) -> None:
        """Serve until a signal; exits with uvicorn's ``STARTUP_FAILURE`` if no worker can start."""
        multiprocess.Process = _Worker  # uvicorn has no argument for it, and its own has a plain server
        super().run()
        if any(process.exitcode == STARTUP_FAILURE for process in self.processes):
            sys.exit(STARTUP_FAILURE)


class _WorkerConfig(uvicorn.Config):
    """What a worker gets from the first process; each makes an app of its own."""

    def __init__(self, settings: Settings, count: int) -> None:
        api = settings.api
        super().__init__(
            "", host=api.host, port=api.port, workers=count, log_config=None, timeout_worker_healthcheck=60
        )
        self.settings = settings
        self.has_served = multiprocessing.get_context("spawn").Event()
        """Set when the first worker listens."""


class _Worker(multiprocess.Process):
    """A process with a `Server`."""

    def start(self) -> None:
        """Start it, and close its end of the pipe here: its death ends uvicorn's wait for a sign of life at once."""
        super().start()
        self.child_conn.close()

    def target(self, sockets: list[socket] | None = None) -> None:
        """Serve until the first process ends this one, or dies.

        After ``STARTUP_FAILURE`` uvicorn ends all workers. Once one of them has served, the settings are not the cause,
        so uvicorn is to try again.
        """
        from interfaces.http.app import create_app

        assert isinstance(self.config, _WorkerConfig)
        settings, has_served = self.config.settings, self.config.has_served
        Thread(target=_end_with_parent, daemon=True).start()
        prepare_process(settings)
        self._server = Server(create_app(settings), settings.api, on_start=has_served.set)
        with suppress(SystemExit):  # the start failed
            super().target(sockets)
        if not self._server.started:
            sys.exit(1 if has_served.is_set() else STARTUP_FAILURE)


def _end_with_parent() -> None:
    """End this process when the one that started it has died: otherwise it would go on serving, and hold the port."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _is_idle(connection: H11Protocol) -> bool:
    under_way = connection.cycle  # None before the first request
    return not under_way or under_way.response_complete or connection.transport.is_closing()


SWITCH_S = 0.0005
"""How long a thread may keep Python's lock while others wait: requests are short, and an ingest is not."""


def prepare_process(settings: Settings) -> None:
    """Log, and keep temporary files on the disk of the uploads, in a folder that is swept at each start."""
    api = settings.api
    log_as_json(texts=api.log_text, access=api.keys is not None if api.access_log is None else api.access_log)
    uploads = Uploads(settings.api.uploads)
    uploads.make_spool()
    tempfile.tempdir = str(uploads.spool.resolve())
    sys.setswitchinterval(SWITCH_S)


def log_as_json(*, texts: bool, access: bool) -> None:
    """Make every logger of this process write JSON. Call it once, when a server starts.

    Without ``texts`` errors are logged without their messages, which may quote a question or a document. Without
    ``access`` only warnings, failures and jobs are logged.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    rendered = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.ExceptionRenderer(_WHOLE if texts else _where),
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=rendered))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("disco_rag.api").setLevel(logging.INFO)
    for name in (ACCESS_LOGGER, LOGGER):
        logging.getLogger(name).setLevel(logging.INFO if access else logging.WARNING)


def _where(exc_info: ExcInfo) -> list[dict[str, Any]]:
    """Kind and place of an error, without its message."""
    return [{"exc_type": error["exc_type"], "frames": error["frames"]} for error in _WHOLE(exc_info)]
