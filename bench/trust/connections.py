"""Connections without a key that never send a whole request: whether others are answered, and how long they are held.

- ``unanswered``: requests for ``/healthz``, each on a connection of its own, without an answer within `PATIENCE_S`.
- ``slowest_s``: the longest that one took.
- ``held``: connections that the server had not closed `LET_GO_S` after the last was opened.
- ``count``: half-open connections; the limit of open files may allow fewer than were asked for.
- ``opened``: all connections, the slow bodies among them.
- ``most_held``: the most that were seen open at once after the last was opened.
- ``head_mb``: what the server took of a head that never ends.
"""

from __future__ import annotations

import resource
import socket
import time
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType

import httpx

from bench.promises import Figures, Trial
from bench.server import ApiServer, Home

PATIENCE_S = 60.0
LET_GO_S = 60.0
SLOW = 200
"""Connections that go on sending a byte a second."""
HEAD_MB = 150
_SPARE = 300
"""Descriptors that are left to the server's own files, and to this process."""
_HALF = b"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\n"
_BODY = _HALF + b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


class Probe(Thread):
    """Asks for ``/healthz`` ten times a second between ``with`` and its end."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url, self._over = f"{url}/healthz", Event()
        self.seconds: list[float] = []
        self.unanswered = 0

    def run(self) -> None:
        """Ask until it is over."""
        while not self._over.wait(0.1):
            start = time.monotonic()
            try:
                self.unanswered += not httpx.get(self._url, timeout=PATIENCE_S).is_success
            except httpx.TransportError:
                self.unanswered += 1
            self.seconds.append(time.monotonic() - start)

    def __enter__(self) -> Probe:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self.join()


def run(trial: Trial) -> Figures:
    """``trial.count`` half-open connections at a server of its own, as far as the limit of open files allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the server inherits it
    count = min(trial.count, most - SLOW - _SPARE)
    with ApiServer(Home.create(trial.folder / "home", ["someone"])) as server, Probe(server.url) as probe:
        head_mb = _endless_head(server.port)
        slow = _opened(server.port, SLOW, _BODY)
        half = _opened(server.port, count, _HALF, trial)
        most_held, held = _let_go(half, slow)
    return {
        "count": len(half),
        "unanswered": probe.unanswered,
        "held": held,
        "opened": len(half) + len(slow),
        "most_held": most_held,
        "head_mb": head_mb,
        "slowest_s": round(max(probe.seconds), 2),
        "asked": len(probe.seconds),
    }


def _endless_head(port: int) -> int:
    """Send up to `HEAD_MB` of a head; how many MB went off before the server closed."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(_HALF + b"X-A: ")
        for sent in range(HEAD_MB):
            try:
                connection.sendall(b"a" * 1_000_000)
            except OSError:
                return sent
    return HEAD_MB


def _opened(port: int, count: int, begin: bytes, trial: Trial | None = None) -> list[socket.socket]:
    found: list[socket.socket] = []
    for _ in range(count):
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            found.append(connection)
            connection.sendall(begin)
            connection.setblocking(False)
        if trial:
            trial.tick()
    return found


def _let_go(half: list[socket.socket], slow: list[socket.socket]) -> tuple[int, int]:
    """The most connections that are open at once, and those that still are after `LET_GO_S`."""
    end, most = time.monotonic() + LET_GO_S, 0
    while (held := sum(map(_is_open, half + slow))) and time.monotonic() < end:
        most = max(most, held)
        time.sleep(1.0)
        for connection in slow:
            with suppress(OSError):
                connection.send(b"a")
    for connection in half + slow:
        connection.close()
    return most, held


def _is_open(connection: socket.socket) -> bool:
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
