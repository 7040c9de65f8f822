"""What one process makes for all that test: pytest-xdist starts several."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of this test run."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_by_one(folder: Path, make: Callable[[Path], object]) -> Path:
    """The folder, which the first process that asks for it makes and fills; the others wait for it."""
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(f".{os.getpid()}")
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
