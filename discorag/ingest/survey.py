"""What a path holds, what is stored of it under which key, and what becomes of it."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict

from discorag.config import Settings
from discorag.ingest.bucket import is_bucket, list_objects
from discorag.ingest.loaders import SUFFIXES, SUPPORTED, Source, converter_version, printable, unknown_format
from discorag.ingest.segment.chunks import SPLITTER_VERSION, chunk_id
from discorag.schema.document import Chunk, Document, Hierarchy, Scope
from discorag.schema.errors import InputError, MissingPathError, UnknownFormatError
from discorag.schema.values import Vectors, fingerprint
from discorag.store.records import Manifest

NOT_MADE = "none"  # version of a stage that is switched off


class Status(StrEnum):
    """What became of a document in one ingest."""

    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    FAILED = "failed"


class DocumentOutcome(BaseModel):
    """What became of one document. ``note``: the error, the URI of its duplicate, or how it had to be read."""

    model_config = ConfigDict(frozen=True)

    uri: str
    status: Status
    chunks: int = 0
    note: str = ""


@dataclass
class IngestedDocument:
    """A document on its way through the ingest; every step adds its part.

    ``replaces``: another version of it is stored. ``unchanged``: this version is stored, so no step is needed.
    """

    document: Document
    manifest: Manifest
    replaces: bool
    unchanged: bool
    hierarchy: Hierarchy | None = None
    chunks: list[Chunk] = field(default_factory=list[Chunk])
    vectors: Vectors | None = None


def versions(uri: str, settings: Settings, *, parser: str, encoder: str) -> dict[str, str]:
    """Version of every stage that shapes what is stored of ``uri``; a change in any makes the document stale."""
    counted_by = settings.encoder.tokenizer
    return {
        "converter": converter_version(Path(uri).suffix),
        "splitter": "/".join(filter(None, (SPLITTER_VERSION, str(settings.reading.chunk_tokens), counted_by))),
        "parser": parser,
        "summariser": NOT_MADE,
        "encoder": encoder,
    }


def manifest_of(document: Document, scope: Scope, stages: dict[str, str]) -> Manifest:
    """The manifest under which ``document`` will be stored; ``chunks`` is filled in when they are cut."""
    return Manifest(
        doc_id=document.id_in(scope),
        uri=document.uri,
        title=document.title,
        content_hash=document.content_hash,
        text_hash=document.text_hash,
        file_hash=document.file_hash,
        file_bytes=document.file_bytes,
        fingerprint=fingerprint(document.content_hash, stages),
        versions=stages,
        chunks=0,
    )


def rekey(ingested: IngestedDocument, stages: dict[str, str]) -> None:
    """Put the document under other versions: a new fingerprint and, with it, new chunk ids."""
    key = fingerprint(ingested.document.content_hash, stages)
    ingested.manifest = ingested.manifest.model_copy(update={"versions": stages, "fingerprint": key})
    ingested.chunks = [c.model_copy(update={"id": chunk_id(c.doc_id, key, c.order)}) for c in ingested.chunks]


@dataclass(frozen=True)
class Survey:
    """What a path holds, before anything is read: files to ingest, and the fate of the others."""

    sources: tuple[Source, ...]
    aside: tuple[DocumentOutcome, ...]


def absolute(path: str) -> str:
    """The path in full, as in the uris of the documents below it."""
    return path.rstrip("/") if is_bucket(path) else Path(path).resolve().as_posix()


def below(path: str) -> str:
    """The prefix of the uris of all documents that were read from below a path."""
    return absolute(path).rstrip("/") + "/"


def survey(path: str, *, emptied: Callable[[], bool] = lambda: False) -> Survey:
    """List what is at a path on disk or in S3 (``s3://bucket``, ``s3://bucket/prefix``, one object), by absolute URI.

    Hidden entries are left out. Reported separately are files of unknown formats, links to folders (never followed),
    links out of the folder, and, on disk, repeated files. ``emptied`` is called if there is nothing to read; it says
    whether documents from below ``path`` are stored.

    Raises:
        MissingPathError: Nothing is there.
        UnknownFormatError: ``path`` is one file of a format that is not read.
        InputError: Nothing that can be read is there, a file's name is not UTF-8, or a bucket cannot be listed.
        MissingExtraError: ``path`` is in S3, and pyarrow is not installed.
    """
    found = _in_bucket(path) if is_bucket(path) else _on_disk(Path(path))
    if not found.sources and all(o.status is Status.SKIPPED for o in found.aside) and not emptied():
        raise InputError(f"{path} holds no file to read.", hint=f"Supported formats: {SUPPORTED}.")
    return found


def _in_bucket(path: str) -> Survey:
    suffixes = {uri: PurePosixPath(uri).suffix for uri in list_objects(path)}
    sources = (Source(Path(uri), uri) for uri, suffix in suffixes.items() if suffix.lower() in SUFFIXES)
    others = {uri: unknown_format(suffix) for uri, suffix in suffixes.items() if suffix.lower() not in SUFFIXES}
    return Survey(tuple(sources), tuple(_skipped(uri, reason) for uri, reason in others.items()))


def _on_disk(path: Path) -> Survey:
    if os.path.isdir(path):  # unlike Path.is_dir, false where permission is missing
        return _in_folder(path)
    if not os.path.exists(path):
        raise MissingPathError(f"{path} does not exist.", hint="Check the path; it is relative to the current folder.")
    if reason := _why_not(path):
        raise UnknownFormatError(f"{path} cannot be read: {reason}.", hint=f"Supported formats: {SUPPORTED}.")
    uri = path.resolve().as_posix()
    if printable(uri) != uri:
        raise InputError(f"{printable(uri)} has a name that is not UTF-8.", hint="Rename it.")
    return Survey((Source(path, uri),), ())


def _in_folder(folder: Path) -> Survey:
    root, sources, aside = folder.resolve(), dict[str, Source](), list[DocumentOutcome]()
    first: dict[str, str] = {}
    for path in _walk(folder, aside):
        name = printable((root / path.relative_to(folder)).as_posix())
        if reason := _why_not(path) or ("" if path.resolve().is_relative_to(root) else "link out of the folder"):
            aside.append(_skipped(name, reason))
        elif printable(uri := path.resolve().as_posix()) != uri:
            note = "Its name is not UTF-8. Rename it."
            aside.append(DocumentOutcome(uri=name, status=Status.FAILED, note=note))
        elif (earlier := first.setdefault(_digest_of(path) or uri, uri)) != uri:
            aside.append(DocumentOutcome(uri=uri, status=Status.DUPLICATE, note=f"Same content as {earlier}."))
        elif uri in sources:
            aside.append(DocumentOutcome(uri=name, status=Status.DUPLICATE, note=f"Same file as {uri}."))
        else:
            sources[uri] = Source(path, uri)
    return Survey(tuple(sources.values()), tuple(aside))


def _walk(folder: Path, aside: list[DocumentOutcome]) -> list[Path]:
    """Every visible file below ``folder``, and every visible link to a folder, sorted; files come before links."""

    def refuse(error: OSError) -> None:
        uri = folder.resolve() / Path(error.filename).relative_to(folder)
        aside.append(_skipped(printable(uri.as_posix()), error.strerror or "cannot be opened"))

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


def _skipped(uri: str, reason: str) -> DocumentOutcome:
    return DocumentOutcome(uri=uri, status=Status.SKIPPED, note=reason)


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

    A single file or object makes nothing vanish, and below what could not be looked into nothing does. A file that is
    not ``present``, because another ingest may have read it since, does not vanish either.
    """
    if is_bucket(path):
        return [m for m in stored if m.uri not in present] if path not in present else []
    if not os.path.isdir(path):
        return []
    skipped = {o.uri for o in outcomes if o.status == Status.SKIPPED}
    repeated = {o.uri for o in outcomes if o.status == Status.DUPLICATE}
    gone = [m for m in stored if m.uri not in present and (m.uri in repeated or not Path(m.uri).is_file())]
    return [m for m in gone if not any(m.uri == s or m.uri.startswith(s + "/") for s in skipped)]
