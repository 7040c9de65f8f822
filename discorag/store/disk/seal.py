"""Checksums of a store's files, written when it is closed and compared when it is opened."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pydantic import TypeAdapter
from xxhash import xxh3_128, xxh3_128_hexdigest

from discorag.types.errors import StoreError

_BLOCK = 1 << 20
_SUMS = TypeAdapter(dict[str, str])


class Seal:
    """The checksums of all files in some places of a folder.

    The first change takes the seal away, closing puts it back: a store without one was not closed.

    Args:
        folder: The store's.
        places: Names of files and folders in it.

    Example:
        >>> from discorag.store.disk.seal import Seal
        >>> _ = (tmp_path / "data").write_text("tides")
        >>> Seal(tmp_path, ["data"]).set()
        >>> _ = (tmp_path / "data").write_text("tidal")
        >>> Seal(tmp_path, ["data"]).differences()
        ['data is not as it was written']
    """

    FILE = "seal.json"

    def __init__(self, folder: Path, places: list[str]) -> None:
        self._folder = folder
        self._file = folder / self.FILE
        self._places = places
        self._there = self._file.exists()

    @property
    def is_set(self) -> bool:
        """Whether nothing was changed since the store was closed."""
        return self._there

    def break_(self) -> None:
        """Before a change: take the seal away."""
        if self._there:
            self._file.unlink(missing_ok=True)
            sync(self._folder)
            self._there = False

    def set(self) -> None:
        """Seal what is there."""
        draft = self._file.with_suffix(".new")
        with draft.open("w", encoding="utf-8") as file:
            file.write(_SUMS.dump_json(self._sums()).decode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._file)
        sync(self._folder)
        self._there = True

    def differences(self) -> list[str]:
        """Files that are not as they were sealed, a line each.

        Raises:
            StoreError: A file cannot be read.
        """
        try:
            sealed = _SUMS.validate_json(self._file.read_bytes())
            found = self._sums()
        except ValueError:
            return [f"{self.FILE} is not as it was written"]
        except OSError as error:
            raise StoreError(f"{error.filename} cannot be read: {error.strerror}.", hint="Check the disk.") from error
        gone = [f"{name} is missing" for name in sealed.keys() - found.keys()]
        new = [f"{name} was not there before" for name in found.keys() - sealed.keys()]
        other = [f"{n} is not as it was written" for n in sealed.keys() & found.keys() if sealed[n] != found[n]]
        return sorted(gone + new + other)

    def _sums(self) -> dict[str, str]:
        return {f.relative_to(self._folder).as_posix(): _sum(f) for f in sorted(self._files())}

    def _files(self) -> Iterator[Path]:
        for place in self._places:
            path = self._folder / place
            yield from (f for f in (path, *path.rglob("*")) if f.is_file())


def _sum(path: Path) -> str:
    """Of JSON whatever the order of its keys, which the library changes when it reads."""
    if path.suffix == ".json":
        with suppress(ValueError):
            return xxh3_128_hexdigest(json.dumps(json.loads(path.read_bytes()), sort_keys=True).encode())
    return _sum_of_bytes(path)


def _sum_of_bytes(path: Path) -> str:
    """Of the length and of every block that is not all zeros: holes are skipped, and may be filled or not."""
    total = xxh3_128()
    with path.open("rb", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        total.update(size.to_bytes(8, "big"))
        for at, block in _blocks(file, size):
            if block.count(0) < len(block):
                total.update(at.to_bytes(8, "big"))
                total.update(block)
    return total.hexdigest()


def _blocks(file: BinaryIO, size: int) -> Iterator[tuple[int, bytes]]:
    """Blocks that hold data, by their places."""
    at = 0
    while at < size:
        with suppress(OSError):  # a file system without holes
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) // _BLOCK * _BLOCK
            except OSError as error:
                if error.errno == 6:  # ENXIO: only a hole follows
                    return
                raise
        file.seek(at)
        yield at, file.read(_BLOCK)
        at += _BLOCK


def sync(folder: Path) -> None:
    """Make what was made, renamed or removed in this folder survive a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
