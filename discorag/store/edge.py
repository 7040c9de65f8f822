"""The embedded store: Qdrant Edge, two shards in a folder of this machine, no server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, nullcontext, suppress
from errno import ENOSPC
from pathlib import Path
from typing import Any

from discorag.settings import StoreSettings
from discorag.store.base import ShardStore
from discorag.store.catalogue import OwnedCatalogue
from discorag.store.check import inspect
from discorag.store.disk.archive import Archive
from discorag.store.disk.lock import owned
from discorag.store.disk.points import DAMAGED, EdgePoints, settle
from discorag.store.disk.room import Room
from discorag.store.disk.seal import Seal
from discorag.store.identity import Identity
from discorag.types.errors import StoreDamagedError, StoreError

FORMAT = 2
"""Of the folder: 1 had no archive and no checksums."""
PARTS = (Archive.FILE, "docs", "nodes")
"""What a store consists of, in the order in which it is made."""


def open_edge(settings: StoreSettings, dimension: int, encoder_version: str) -> EdgeStore:
    """For the registry."""
    return EdgeStore(
        settings.path, dimension=dimension, encoder_version=encoder_version, min_free_mb=settings.min_free_mb
    )


class EdgeStore(ShardStore):
    """A store in a folder, owned by one process at a time. Also a context manager that closes it.

    Opening compares what is there with what was written: the checksums of all files, or after a crash every point. It
    finishes what a crash cut off, and deletes nothing else.

    Args:
        path: The folder; made if it does not exist.
        dimension: Length d of a vector.
        encoder_version: `Encoder.version` of the encoder that makes the vectors.
        min_free_mb: With less room on the disk nothing is written.
        whole: Refuse a store with differences; else documents that are damaged are not shown, see `mend`.

    Raises:
        StoreLockedError: Another process, or another store of this one, has it open.
        EncoderMismatchError: It was filled by another encoder; nothing was changed.
        StoreFormatError: It was written by a version with another format.
        StoreDamagedError: What is there is not what was written.
        StoreError: The folder cannot be made, or holds something else.

    Example:
        >>> from discorag.store.edge import EdgeStore
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> with EdgeStore(tmp_path / "store", dimension=8, encoder_version="example") as store:
        ...     piece.put_in(store)
        >>> with EdgeStore(tmp_path / "store", dimension=8, encoder_version="example") as again:
        ...     print([manifest.uri for manifest in again.manifests(piece.scope)])
        ['tides.md']
    """

    def __init__(
        self, path: Path, *, dimension: int, encoder_version: str, min_free_mb: float = 0, whole: bool = True
    ) -> None:
        identity = Identity(format=FORMAT, encoder_version=encoder_version, dimension=dimension)
        self._path = path
        with ExitStack() as stack:
            lock = claimed(stack, path, identity)
            self._seal, self._may_seal = Seal(path, list(PARTS)), False
            room = Room(path, int(min_free_mb * 1_000_000))

            def guard() -> None:
                room.check()
                self._seal.break_()

            if self._seal.is_set:
                _refuse(path, self._seal.differences())
            _check_parts(path)
            stack.callback(self._close_seal)
            archive = stack.enter_context(closing(Archive(path / Archive.FILE, identity.model_dump_json(), guard)))
            docs, nodes = (
                stack.enter_context(closing(EdgePoints(path / name, dimension, sparse=sparse, lock=lock, guard=guard)))
                for name, sparse in (("docs", False), ("nodes", True))
            )
            catalogue = OwnedCatalogue(docs, nodes, archive)
            closed = self._seal.is_set
            sound = catalogue.finish()
            if whole and not (closed and sound):
                _refuse(path, [str(d) for d in inspect(docs, nodes, catalogue.all()).differences])
            super().__init__(docs, nodes, dimension=dimension, resources=stack, catalogue=catalogue)
        self._owned, self._may_seal = catalogue, True

    def read(self, part: str, method: str, *args: Any, **named: Any) -> Any:
        """What a method of ``docs``, ``nodes`` or ``catalogue`` finds, for other processes; a list if many.

        Nothing is written meanwhile; the catalogue sees to that itself.
        """
        parts = {"docs": self._docs, "nodes": self._nodes, "catalogue": self._catalogue}
        with nullcontext() if part == "catalogue" else self._lock:
            found: Any = getattr(parts[part], method)(*args, **named)
            return [*found] if isinstance(found, Iterator) else found

    def _close_seal(self) -> None:
        """When all else is closed; without a seal, as where the disk is full, the next opening reads every point."""
        if self._may_seal and not self._seal.is_set and not self._owned.withheld:
            with suppress(OSError, StoreError):
                for name in ("docs", "nodes"):
                    settle(self._path / name)
                self._seal.set()


def claimed(stack: ExitStack, path: Path, identity: Identity) -> int:
    """Own the folder while the stack lasts, and check that it is such a store; the lock's file descriptor."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = stack.enter_context(owned(path))
        identity.claim(path)
    except OSError as error:
        hint = "Make room on its disk." if error.errno == ENOSPC else "Check its permissions."
        raise StoreError(f"Cannot use {path} as a store: {error.strerror or error}.", hint=hint) from error
    return lock


def _check_parts(path: Path) -> None:
    """Refuse a store that has lost a part: whatever is made later presupposes what is made earlier."""
    there = [(path / part).exists() for part in PARTS]
    _refuse(path, [f"{part} is missing" for i, part in enumerate(PARTS) if not there[i] and any(there[i + 1 :])])


def _refuse(path: Path, differences: Sequence[str]) -> None:
    if differences:
        more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
        said = f"{path} is not as it was written: {differences[0]}{more}."
        raise StoreDamagedError(said, hint=DAMAGED, differences=differences)
