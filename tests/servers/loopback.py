"""An application on a free port of loopback, in a thread, between ``with`` and its end; ports, and workers there."""

import socket
import threading
import time
from abc import ABC, abstractmethod
from typing import Self

import httpx
import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route


class LoopbackServer(ABC):
    """What the servers of this folder share; each has its own routes."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)

    @property
    def address(self) -> str:
        """Its root."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @abstractmethod
    def _routes(self) -> list[Route]: ...

    def __enter__(self) -> Self:
        self._socket.bind(("127.0.0.1", 0))
        # An idle connection closed after the usual 5 s races with the next request on a busy machine.
        config = uvicorn.Config(
            Starlette(routes=self._routes()),
            log_level="critical",
            lifespan="off",
            ws="none",
            timeout_keep_alive=600,
            timeout_graceful_shutdown=0,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._socket.close()


def free_port() -> int:
    """A TCP port on loopback on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_ready(port: int) -> bool:
    """Whether ``disco-rag serve`` answers there."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)):
            return False  # cheap: whoever starts a server asks this often, and takes no processor from it
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=120).is_success
    except httpx.TransportError:
        return False


def workers_of(process: psutil.Process) -> list[psutil.Process]:
    """The workers of ``disco-rag serve --workers N``."""
    children = [p for p in process.children() if p.status() != psutil.STATUS_ZOMBIE]
    return [p for p in children if "spawn_main" in " ".join(p.cmdline())]
