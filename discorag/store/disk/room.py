"""Room on the disk: none is used that is not there, since Qdrant Edge dies of a full disk (SIGBUS)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from discorag.types.errors import StoreFullError

AMPLE = 4_000_000_000
"""Bytes: with more than this free, one write cannot fill the disk."""
_DATA = 512  # bytes in a block, as stat counts


class Room:
    """The room of one store.

    Edge writes into files that are longer than what they hold. Where the disk is not `AMPLE`, they are filled up
    with real blocks before they are written to, so that no write can fail halfway.

    Args:
        folder: The store's.
        least: Bytes that must be free, or nothing is written.

    Example:
        >>> from discorag.store.disk.room import Room
        >>> Room(tmp_path, least=1_000_000).check()
        >>> Room(tmp_path, least=10**18).check()
        Traceback (most recent call last):
        discorag.types.errors.StoreFullError: ...
    """

    def __init__(self, folder: Path, least: int) -> None:
        self._folder = folder
        self._least = least

    def check(self) -> None:
        """Before a write.

        Raises:
            StoreFullError: There is not enough room. The next call may find some.
        """
        free = shutil.disk_usage(self._folder).free
        if free < AMPLE:
            try:
                self._fill_up()
            except OSError as error:
                raise self._full(free) from error
            free = shutil.disk_usage(self._folder).free
        if free < self._least:
            raise self._full(free)

    def _fill_up(self) -> None:
        for file in self._folder.rglob("*"):
            if file.is_file() and (stat := file.stat()).st_blocks * _DATA < stat.st_size:
                handle = os.open(file, os.O_RDWR)
                try:
                    os.posix_fallocate(handle, 0, stat.st_size)
                finally:
                    os.close(handle)

    def _full(self, free: int) -> StoreFullError:
        return StoreFullError(
            f"The disk of {self._folder} is nearly full ({free / 1e6:.0f} MB free, {self._least / 1e6:.0f} MB are "
            "kept free): the store is read-only.",
            hint="Make room: it goes on by itself. DISCO_RAG_STORE__MIN_FREE_MB sets the limit.",
        )
