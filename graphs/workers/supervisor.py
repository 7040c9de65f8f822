"""``disco-rag serve --workers N``: the process that listens, starts keeper and workers, and watches over them.

uvicorn's own supervisor does most of it: workers share one listening socket, one that dies is started again, SIGTERM
drains all, SIGHUP brings up a new worker for each before the old one is drained. Here a keeper is added to them.
"""

# prometheus_client is typed in part only.
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from socket import socket
from time import monotonic

import structlog
import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import multiprocess

from discorag.settings import Settings
from discorag.types.errors import ConfigError, DiscoRagError
from graphs.serving.meters import SHARED_FOLDER
from graphs.serving.server import options
from graphs.serving.uploads import Uploads
from graphs.workers.keeper import keep
from graphs.workers.process import begun
from graphs.workers.server import POLL_S, Replaceable
from graphs.workers.worker import make_worker

START_S = 120
"""How long a worker may take to start, and to say that it lives."""
HUNG_S = 30.0
"""How long the keeper may take to say that it lives, before it is killed and started again."""
_SPAWN = get_context("spawn")
_LOG = structlog.get_logger("disco_rag.api")


def serve_with_workers(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C.

    Raises:
        ConfigError: The store is in memory, which no other process sees.
        DiscoRagError: What the keeper cannot open.
    """
    if settings.store.kind == "memory":
        said = f"{settings.api.workers} workers cannot share a store in memory."
        raise ConfigError(said, hint="Unset DISCO_RAG_STORE__KIND, or serve with --workers 1.")
    multiprocess.Process = _Worker  # pyright: ignore[reportAttributeAccessIssue] - there is no other way in
    with _place() as place:
        begun(settings)
        Uploads(settings.api.uploads).sweep()
        address = str(place / "keeper")
        app = partial(make_worker, settings, address)
        watched = {"workers": settings.api.workers, "timeout_worker_healthcheck": START_S}
        config = uvicorn.Config(app, factory=True, **watched, **options(settings.api))
        _Supervisor(config, [config.bind_socket()], _Keeper(settings, address)).run()


@contextmanager
def _place() -> Generator[Path]:
    """A folder of this user's alone, of a short name, where the keeper listens and workers count."""
    with tempfile.TemporaryDirectory(prefix="disco-rag-") as folder:
        place = Path(folder)
        (place / "metrics").mkdir()
        os.environ[SHARED_FOLDER] = str(place / "metrics")
        yield place


class _Keeper:
    """The keeper's process."""

    def __init__(self, settings: Settings, address: str) -> None:
        self._start = partial(_SPAWN.Process, target=keep), (settings, address)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers. Raises `DiscoRagError`."""
        ours, its = _SPAWN.Pipe()
        make, args = self._start
        self._process = make(args=(*args, its))
        self._process.start()
        its.close()
        try:
            error = ours.recv()
        except EOFError:
            raise DiscoRagError("The keeper ended before it answered.", hint="See the log above.") from None
        if error is not None:
            raise error
        self._line, self._asked = ours, 0.0

    def watch(self) -> None:
        """Start it again if it has died or hangs; if that fails, at the next call."""
        if self._lives():
            return
        self._process.kill()
        self._process.join()
        _LOG.error("keeper died", exitcode=self._process.exitcode)
        try:
            self.start()
        except DiscoRagError as error:
            _LOG.error("keeper failed", error=str(error))

    def _lives(self) -> bool:
        """Whether it is there, and has answered when it was last asked, or was asked a moment ago. Does not wait."""
        with suppress(OSError, EOFError):
            if self._asked and self._line.poll():
                self._line.recv()
                self._asked = 0.0
            if not self._asked:
                self._line.send(None)
                self._asked = monotonic()
        return self._process.is_alive() and monotonic() < self._asked + HUNG_S

    def end(self) -> None:
        """Let it finish what it is asked."""
        self._process.terminate()
        while self._lives():
            self._process.join(POLL_S)
        self._process.kill()
        self._process.join()


class _Worker(multiprocess.Process):
    """A worker's process."""

    @property
    def server(self) -> uvicorn.Server:
        """Made in the worker."""
        if self._server is None:
            self._server = Replaceable(self.config)
        return self._server


class _Supervisor(multiprocess.Multiprocess):
    """uvicorn's, with a keeper."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket], keeper: _Keeper) -> None:
        super().__init__(config, sockets)
        self._keeper = keeper
        for number in (signal.SIGTERM, signal.SIGINT):  # at once, also while workers are renewed
            signal.signal(number, self._told)

    def _told(self, *_: object) -> None:
        self.should_exit.set()

    def run(self) -> None:
        """Until told to stop. Raises `DiscoRagError` if a worker cannot start."""
        super().run()
        if any(process.exitcode == STARTUP_FAILURE for process in self.processes):
            raise DiscoRagError("A worker could not start.", hint="See the log above.")

    def keep_subprocess_alive(self) -> None:
        """The keeper too."""
        self._keeper.watch()
        with self._counted():
            super().keep_subprocess_alive()

    def restart_all(self) -> None:
        """The keeper too, if the workers could be replaced; calls wait for the new one."""
        before = set(self.processes)
        with self._counted():
            super().restart_all()
        if not before.intersection(self.processes):
            self._keeper.end()
            self._keeper.watch()

    @contextmanager
    def _counted(self) -> Generator[None]:
        """What workers that end within the block have answered stays counted; that they were at work does not."""
        before = {process.pid for process in self.processes}
        yield
        for pid in before - {process.pid for process in self.processes}:
            mark_process_dead(pid)

    def terminate_all(self) -> None:
        """Nobody is let in any more."""
        for listening in self.sockets:
            listening.close()
        super().terminate_all()

    def join_all(self) -> None:
        """Workers, then the keeper, which they ask to the end."""
        super().join_all()
        self._keeper.end()
