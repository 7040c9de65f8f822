"""Uploaded files: a folder for each scope; a file is whole and on disk before anybody is told so."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from discorag.ingest.loaders import SUFFIXES
from discorag.schema.document import Scope
from discorag.schema.errors import InputError, StoreError, UnknownFormatError
from discorag.schema.ids import stable_id
from discorag.store.sqlite import make_private_folder

_LONGEST = 200  # bytes of a file's name
_PART = ".part"
_HINT = "Check the disk of the uploads."


@dataclass(frozen=True)
class Staged:
    """Files that are on disk beside their places: ``parts`` has them by place."""

    parts: dict[Path, Path]

    def publish(self) -> None:
        """Put them in their places. Raises `StoreError`."""
        try:
            for target, part in self.parts.items():
                if part.exists() or not target.exists():  # else it was done before
                    part.replace(target)
            for folder in {target.parent for target in self.parts}:
                sync(folder)
        except OSError as error:
            raise StoreError(f"Files could not be kept: {error.strerror}.", hint=_HINT) from error

    def discard(self) -> None:
        """Remove those that were not published."""
        for part in self.parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


@dataclass(frozen=True)
class Uploads:
    """The uploaded files below ``folder``."""

    folder: Path

    def doc_id(self, scope: Scope, name: str) -> str:
        """Id of the document that the file of this name is, or becomes."""
        return stable_id(scope.tenant, scope.corpus, str(self.path(scope, name).resolve()))

    def path(self, scope: Scope, name: str) -> Path:
        """Where the file of this name lies. Raises `InputError` if that is no plain name."""
        return self._home(scope) / checked_name(name)

    def stage(self, scope: Scope, files: Mapping[str, BinaryIO]) -> Staged:
        """Write files, by name, to disk, all or none; not yet in the place of those of the same names.

        Raises:
            InputError: Not a plain name; `UnknownFormatError`: no loader reads it.
            StoreError: The disk is full or broken.
        """
        targets = [self.path(scope, name) for name in files]
        staged = Staged({target: target.with_name(f".{uuid4().hex}{_PART}") for target in targets})
        try:
            make_private_folder(self.folder)
            self._home(scope).mkdir(parents=True, exist_ok=True)
            for part, content in zip(staged.parts.values(), files.values(), strict=True):
                _write(part, content)
            for folder in (self._home(scope), self.folder / "files", self.folder):
                sync(folder)
        except OSError as error:
            staged.discard()
            raise StoreError(f"Files could not be kept: {error.strerror}.", hint=_HINT) from error
        return staged

    def sweep(self) -> None:
        """Remove what an earlier run of the server staged and did not publish, and what libraries left."""
        for part in self.folder.glob(f"files/*/.*{_PART}"):
            part.unlink(missing_ok=True)
        shutil.rmtree(self.spool, ignore_errors=True)
        self.make_spool()

    def make_spool(self) -> None:
        """Make the folder of what is being received."""
        make_private_folder(self.folder)
        self.spool.mkdir(exist_ok=True)

    @property
    def spool(self) -> Path:
        """Folder of what is being received."""
        return self.folder / "spool"

    def remove(self, scope: Scope, uri: str) -> bool:
        """Remove the file at ``uri`` if it is one of this scope's; whether it is."""
        path = Path(uri)
        if path.parent != self._home(scope).resolve():
            return False
        path.unlink(missing_ok=True)
        return True

    def name_of(self, uri: str) -> str:
        """What the client called the document: for it, folders of the server are nobody's business."""
        return Path(uri).name

    def _home(self, scope: Scope) -> Path:
        return self.folder / "files" / scope.folder


def checked_name(name: str) -> str:
    """The name, if it is a plain one of a known format.

    Raises:
        InputError: It is empty, hidden, too long, or holds a folder or what cannot be printed.
        UnknownFormatError: No loader reads files with its suffix.
    """
    plain = name and name == Path(name).name and not name.startswith(".") and name.isprintable() and "\\" not in name
    if not plain or len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        raise InputError(f"{name[:100]!r} is no plain file name.", hint="Send a name without folders, such as a.pdf.")
    if Path(name).suffix.lower() not in SUFFIXES:
        raise UnknownFormatError(f"No loader reads {name[:100]!r}.", hint=f"Known are {', '.join(SUFFIXES)}.")
    return name


def _write(path: Path, content: BinaryIO) -> None:
    """Write a file; when this returns it is on disk."""
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Returns when the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
