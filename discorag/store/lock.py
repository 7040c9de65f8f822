"""One owner per store folder: a second process would damage the journal."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from discorag.errors import StoreLockedError

LOCK_FILE = ".lock"
OWNER_FILE = ".owner"


@contextmanager
def owned(folder: Path) -> Generator[None, None, None]:
    """Own ``folder``, an existing one, for as long as the context lasts; the system frees it if the process dies.

    Raises:
        StoreLockedError: Another process, or another store of this one, owns it. Nothing was touched.
    """
    lock = FileLock(folder / LOCK_FILE, timeout=0, thread_local=False)
    owner = folder / OWNER_FILE
    try:
        lock.acquire()
    except Timeout as error:
        raise StoreLockedError(f"{folder} is in use by process {_read(owner)}.", hint=_HINT) from error
    try:
        owner.write_text(str(os.getpid()), encoding="ascii")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


_HINT = "Stop that process, talk to it instead, or choose another folder (DISCO_RAG_STORE__PATH)."


def _read(owner: Path) -> str:
    try:
        return owner.read_text(encoding="ascii")
    except OSError:
        return "(starting or stopping)"
