"""``disco-rag serve`` as a process of its own, its keys and its log, and what it is asked to read."""

import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from threading import Thread
from types import TracebackType
from typing import Self

import httpx
import psutil

from bench.product import PROGRAM, environment
from discorag.schema.errors import InvariantError
from interfaces.http.access import Role, new_key
from tests.servers.loopback import free_port, workers_of

PATIENCE_S = 300.0
"""How long a server may take to start, and to end."""
REFUSED, NOT_ENDED = "refused", "not ended"
"""What becomes of a file whose job does not end: the server did not take it; it is not done in time."""
_POLL_S = 0.25


@dataclass(frozen=True)
class Home:
    """A folder with the store, the uploads and the file of keys of a server; ``keys`` are by tenant."""

    folder: Path
    keys: dict[str, str]

    @classmethod
    def create(cls, folder: Path, tenants: Sequence[str]) -> Self:
        """A new one, with a key for everything for each tenant."""
        folder.mkdir(parents=True)
        made = {tenant: new_key(f"key of {tenant}", tenant, list(Role)) for tenant in tenants}
        (folder / "keys.toml").write_text("\n".join(entry for _, entry in made.values()), encoding="utf-8")
        return cls(folder, {tenant: key for tenant, (key, _) in made.items()})

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The process's; ``settings`` as for `bench.product.environment`."""
        own = {
            "API__UPLOADS": str(self.folder / "uploads"),
            "API__KEYS": str(self.folder / "keys.toml"),
            "API__REQUESTS_PER_MINUTE": "1000000",
            "API__QUOTA__JOBS": "1000000",
        }
        return environment(self.folder / "store", own | dict(settings))


class ApiServer:
    """A running server; leaving the ``with`` ends it.

    Args:
        home: Where it keeps what it is given.
        settings: ``DISCO_RAG_*`` variables without the prefix.
        workers: How many processes serve; more than one need ``DATABASE_URL``.

    Raises:
        InvariantError: It does not start.
    """

    def __init__(self, home: Home, settings: Mapping[str, str] | None = None, *, workers: int = 1) -> None:
        self.home, self.port = home, free_port()
        self.log = deque[str](maxlen=50)
        """The last lines that the process wrote, except those about requests."""
        more = ("--workers", str(workers)) if workers > 1 else ()
        self._command = [*PROGRAM, "serve", "--port", str(self.port), *more]
        self._environment = home.environment(settings or {})
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=self.home.folder,
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self._wait()

    def restart(self) -> None:
        """Kill it, and start it again at the same address."""
        self.end(SIGKILL)
        self._start()

    @property
    def process(self) -> psutil.Process:
        """The process; with several workers their parent."""
        return psutil.Process(self._process.pid)

    def workers(self) -> list[psutil.Process]:
        """The processes that serve, if there are several."""
        return workers_of(self.process)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, tenant: str, *, timeout_s: float = PATIENCE_S) -> httpx.Client:
        """A client with the key of this tenant."""
        headers = {"Authorization": f"Bearer {self.home.keys[tenant]}"}
        as_many_as_asked = httpx.Limits(max_connections=None)
        return httpx.Client(base_url=self.url, headers=headers, timeout=timeout_s, limits=as_many_as_asked)

    @property
    def is_running(self) -> bool:
        """Whether the process lives."""
        return self._process.poll() is None

    def end(self, number: Signals = SIGTERM) -> int:
        """Send a signal and wait.

        Returns:
            The exit code; minus the signal's number if that ended it.
        """
        if self._process.poll() is None:
            self._process.send_signal(number)
        code = self._process.wait(PATIENCE_S)
        self._reader.join()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end(SIGTERM if kind is None else SIGKILL)

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if '"event": "request"' not in line:
                self.log.append(line.rstrip()[:2000])

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE_S
        while self._process.poll() is None and time.monotonic() < end:
            try:
                if httpx.get(f"{self.url}/readyz").is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        self.end(SIGKILL)
        raise InvariantError(f"The server did not start: {list(self.log)}")


def note(number: int) -> bytes:
    """A small Markdown file, like no other."""
    return f"# Note {number}\n\nThe tide of note {number} rises twice a day, because the moon pulls the sea.\n".encode()


def upload(client: httpx.Client, name: str, data: bytes, corpus: str = "default") -> str:
    """The id of the job; empty if the server did not take it."""
    with suppress(httpx.HTTPError):
        reply = client.post("/ingest", files=[("files", (name, data))], data={"corpus": corpus})
        if reply.is_success:
            return reply.json()["job"]["id"]
    return ""


def wait_for_job(client: httpx.Client, job: str, within_s: float) -> str:
    """How the job of this id ended: its status, or `REFUSED`, or `NOT_ENDED` so far. Asks at least once."""
    if not job:
        return REFUSED
    end = time.monotonic() + within_s
    while True:
        with suppress(httpx.HTTPError, KeyError, ValueError):
            if (found := client.get(f"/ingest/{job}").json()["job"])["ended"]:
                return found["status"]
        if time.monotonic() >= end:
            return NOT_ENDED
        time.sleep(_POLL_S)
