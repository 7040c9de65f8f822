"""One owner per store folder: a second process would damage the journal."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from discorag.types.errors import StoreLockedError

LOCK_FILE = ".lock"
OWNER_FILE = ".owner"
SOCKET_FILE = ".ask"
"""Where an owner listens for the questions of other processes."""


@contextmanager
def owned(folder: Path) -> Generator[int]:
    """Own ``folder``, an existing one, for as long as the context lasts; the system frees it if the process dies.

    Yields:
        The lock's file descriptor. A child process that gets it owns the folder too, also when this process has died.

    Raises:
        StoreLockedError: Another process, or another store of this one, owns it. Nothing was touched.
    """
    lock, owner = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o644), folder / OWNER_FILE
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreLockedError(f"{folder} is in use by process {_read(owner)}.", hint=_HINT) from error
        owner.write_text(str(os.getpid()), encoding="ascii")
        try:
            yield lock
        finally:
            owner.unlink(missing_ok=True)
    finally:
        os.close(lock)


_HINT = "Stop that process, talk to it instead, or choose another folder (DISCO_RAG_STORE__PATH)."


def _read(owner: Path) -> str:
    try:
        return owner.read_text(encoding="ascii")
    except OSError:
        return "(starting or stopping)"
