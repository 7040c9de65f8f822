"""Large bodies without a key: what the server keeps of them.

- ``unauthenticated_bytes_kept``: the most that all temporary files held at once that it opened meanwhile, the removed
  ones too; and by how much its memory grew, where that is more than `NOISE` bytes.
- ``bytes_taken``: what it let the clients send before it answered or closed.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import psutil

from bench.serving.server import ApiServer, Home
from bench.trust.trial import Figures, Trial

BODY = 99_000_000
"""Bytes of a body: just below what an upload may have."""
NOISE = 32_000_000
_PIECE = bytes(1 << 20)
HELD_S = 3.0
"""Nothing more is sent for so long before the measurement ends."""
_LONGEST_S = 60.0
_BOUNDARY = "----------------------------trust"


class Flood(Thread):
    """One request without a key that sends all of its body but the end, and keeps the connection."""

    def __init__(self, port: int, over: Event, body: int) -> None:
        super().__init__(daemon=True)
        self._port, self._over, self._body = port, over, body
        self.sent = 0
        self.status = "none"

    def run(self) -> None:
        """Send until it is answered, closed, or all but the end is sent."""
        with socket.create_connection(("127.0.0.1", self._port)) as connection, suppress(OSError):
            connection.sendall(_head(self._body))
            connection.settimeout(5.0)
            while self.sent < self._body - len(_PIECE) and not self._answered(connection):
                self.sent += connection.send(_PIECE)
            self._over.wait(_LONGEST_S)
            self._answered(connection)

    def _answered(self, connection: socket.socket) -> bool:
        """Whether there is a reply; its status is kept."""
        if not select.select([connection], [], [], 0)[0]:
            return False
        said = connection.recv(4096)
        self.status = said.split(b" ")[1].decode() if b" " in said else "closed"
        return True


def _head(body: int) -> bytes:
    part = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
    lines = ("POST /ingest HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {body}")
    kind = f"Content-Type: multipart/form-data; boundary={_BOUNDARY}"
    return ("\r\n".join([*lines, kind]) + "\r\n\r\n" + part).encode()


def temporary_files(pid: int, home: Path) -> dict[int, int]:
    """Sizes of the files that it may write to and that were removed, lie outside its home, or are spooled, by inode."""
    inside, spool = str(home), str(home / "uploads" / "spool")
    return {
        inode: size
        for path, inode, size in _written_files(pid)
        if path.endswith(" (deleted)") or path.startswith(spool) or not path.startswith(inside)
    }


def _written_files(pid: int) -> Iterator[tuple[str, int, int]]:
    """Path, inode, size."""
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            path, found = str(file.readlink()), os.stat(file)
            flags = next(x for x in Path(f"/proc/{pid}/fdinfo/{file.name}").read_text().splitlines() if "flags" in x)
            writes = int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
            if writes and path.startswith("/") and not path.startswith("/proc"):
                yield path, found.st_ino, found.st_size


def run(trial: Trial) -> Figures:
    """`flooded` with a server of its own."""
    home = Home.create(trial.folder / "home", ["someone"])
    with ApiServer(home) as server:
        return flooded(server.pid, server.port, home.folder, trial)


def flooded(pid: int, port: int, home: Path, trial: Trial, body: int = BODY) -> Figures:
    """``trial.count`` such requests at once, of ``body`` bytes each."""
    process, over = psutil.Process(pid), Event()
    known, memory = frozenset(temporary_files(pid, home)), process.memory_info().rss
    floods = [Flood(port, over, body) for _ in range(trial.count)]
    for flood in floods:
        flood.start()
    spooled, most_memory = _most(process, home, known, floods)
    over.set()
    for flood in floods:
        flood.join(_LONGEST_S)
        trial.tick()
    grown = max(0, most_memory - memory)
    return {
        "unauthenticated_bytes_kept": spooled + (grown if grown > NOISE else 0),
        "in_files": spooled,
        "memory_grown_by": grown,
        "bytes_taken": sum(flood.sent for flood in floods),
        "replies": dict(Counter(flood.status for flood in floods)),
    }


def _most(process: psutil.Process, home: Path, known: Collection[int], floods: list[Flood]) -> tuple[int, int]:
    """The most bytes in memory and in temporary files that were not ``known``, until a moment after the last came."""
    files, memory, last, since = 0, 0, -1, time.monotonic()
    while time.monotonic() - since < HELD_S:
        found = temporary_files(process.pid, home)
        files = max(files, sum(size for inode, size in found.items() if inode not in known))
        memory = max(memory, process.memory_info().rss)
        if (sent := sum(flood.sent for flood in floods)) != last:
            last, since = sent, time.monotonic()
        time.sleep(0.05)
    return files, memory
