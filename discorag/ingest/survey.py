"""What a path holds, before anything is read, and what became of its files in an ingest."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel

from discorag.ingest.loaders import SUFFIXES, SUPPORTED, printable, unknown_format
from discorag.schema.errors import InputError, MissingPathError, UnknownFormatError
from discorag.schema.values import amount, list_amounts
from discorag.store.records import Manifest


class Status(StrEnum):
    """What became of a document in one ingest."""

    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    FAILED = "failed"


class DocumentOutcome(BaseModel, frozen=True):
    """What became of one document.

    ``note``: the error, the URI of its duplicate, or how it had to be read. ``unread``: as in `Document`.
    """

    uri: str
    status: Status
    chunks: int = 0
    note: str = ""
    unread: dict[str, int] = {}


def unread_summary(documents: Iterable[Mapping[str, int]]) -> str:
    """A sentence on what could not be read of some documents, from each one's counts; empty if all was read."""
    incomplete = [counts for counts in documents if counts]
    if not incomplete:
        return ""
    total = sum(map(Counter, incomplete), Counter[str]())
    have, were = ("has" if len(incomplete) == 1 else "have"), ("was" if total.total() == 1 else "were")
    return f"{amount(len(incomplete), 'documents')} {have} {list_amounts(total)} that {were} not read."


@dataclass(frozen=True)
class Survey:
    """What a path holds: the absolute paths of the files to ingest, and what became of the others."""

    files: tuple[str, ...]
    aside: tuple[DocumentOutcome, ...] = ()


def absolute(path: str) -> str:
    """The path in full, as in the uris of the documents below it."""
    return Path(path).resolve().as_posix()


def below(path: str) -> str:
    """The prefix of the uris of all documents that were read from below a path."""
    return absolute(path).rstrip("/") + "/"


def survey(path: str, *, emptied: Callable[[], bool] = lambda: False) -> Survey:
    """List the files at a path that an ingest reads.

    Hidden entries are left out. Reported separately are files of unknown formats, links to folders (never followed),
    links out of the folder, and repeated files. ``emptied`` is called if there is nothing to read; it says whether
    documents from below ``path`` are stored.

    Raises:
        MissingPathError: Nothing is there.
        UnknownFormatError: ``path`` is one file of a format that is not read.
        InputError: Nothing that can be read is there, or the name of the one file is not UTF-8.
    """
    if not os.path.isdir(path):  # unlike Path.is_dir, false where permission is missing
        return Survey((_one_file(Path(path)),))
    found = _in_folder(Path(path))
    if not found.files and all(o.status is Status.SKIPPED for o in found.aside) and not emptied():
        raise InputError(f"{path} holds no file to read.", hint=f"Supported formats: {SUPPORTED}.")
    return found


def _one_file(path: Path) -> str:
    if not os.path.exists(path):
        raise MissingPathError(f"{path} does not exist.", hint="Check the path; it is relative to the current folder.")
    if reason := _why_not(path):
        raise UnknownFormatError(f"{path} cannot be read: {reason}.", hint=f"Supported formats: {SUPPORTED}.")
    uri = absolute(str(path))
    if printable(uri) != uri:
        raise InputError(f"{printable(uri)} has a name that is not UTF-8.", hint="Rename it.")
    return uri


def _in_folder(folder: Path) -> Survey:
    root, aside = folder.resolve(), list[DocumentOutcome]()
    first: dict[str, str] = {}  # what a file holds -> its path; a file that is empty or cannot be read: its path

    def leave(path: str, status: Status, note: str) -> None:
        aside.append(DocumentOutcome(uri=printable(path), status=status, note=note))

    def refuse(error: OSError) -> None:
        closed = root / Path(error.filename).relative_to(folder)
        leave(closed.as_posix(), Status.SKIPPED, error.strerror or "cannot be opened")

    for path in _visible(folder, refuse):
        name = (root / path.relative_to(folder)).as_posix()
        if reason := _why_not(path) or ("" if path.resolve().is_relative_to(root) else "link out of the folder"):
            leave(name, Status.SKIPPED, reason)
            continue
        uri = path.resolve().as_posix()
        if printable(uri) != uri:
            leave(name, Status.FAILED, "Its name is not UTF-8. Rename it.")
        elif (content := _digest_of(path) or uri) not in first:
            first[content] = uri
        elif first[content] == uri:
            leave(name, Status.DUPLICATE, f"Same file as {uri}.")
        else:
            leave(uri, Status.DUPLICATE, f"Same content as {first[content]}.")
    return Survey(tuple(first.values()), tuple(aside))


def _visible(folder: Path, refuse: Callable[[OSError], None]) -> list[Path]:
    """Every visible file below ``folder``, and every visible link to a folder, sorted; files come before links."""
    found: list[Path] = []
    for root, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if os.path.islink(os.path.join(root, name))]
        found += (Path(root, name) for name in [*links, *files] if not name.startswith("."))
    return sorted(found, key=lambda path: (path.is_symlink(), path.as_posix()))


def _why_not(path: Path) -> str:
    """Why ``path`` is not read; empty if it is."""
    if os.path.isdir(path):
        return "link to a folder"
    if not os.path.isfile(path):
        return "not a regular file"
    return "" if path.suffix.lower() in SUFFIXES else unknown_format(path.suffix)


def _digest_of(path: Path) -> str:
    """Digest of a file's bytes; empty if it cannot be read or is empty, which loading will report."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() if path.stat().st_size else ""
    except OSError:
        return ""


def find_vanished(
    path: str, stored: list[Manifest], outcomes: list[DocumentOutcome], present: set[str]
) -> list[Manifest]:
    """Stored documents that were read from below ``path`` and are gone, or repeat another one now.

    A single file makes nothing vanish, and below a folder that could not be opened nothing does. A file that is not
    ``present``, because another ingest may have read it since, does not vanish either.
    """
    if not os.path.isdir(path):
        return []
    skipped = {o.uri for o in outcomes if o.status == Status.SKIPPED}
    repeated = {o.uri for o in outcomes if o.status == Status.DUPLICATE}
    gone = [m for m in stored if m.uri not in present and (m.uri in repeated or not Path(m.uri).is_file())]
    return [m for m in gone if not any(m.uri == s or m.uri.startswith(s + "/") for s in skipped)]
