"""What a path holds, what is stored of it under which key, and what becomes of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from discorag.config import Settings
from discorag.ingest.loaders import Found, Source, converter_version, find_files
from discorag.ingest.segment.chunks import SPLITTER_VERSION, chunk_id
from discorag.schema.document import Chunk, Document, Hierarchy, Scope
from discorag.schema.errors import InputError
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
    """The fate of one document; ``note``: the error, the uri of which it is a duplicate, how it had to be read."""

    model_config = ConfigDict(frozen=True)

    uri: str
    status: Status
    chunks: int = 0
    note: str = ""


@dataclass
class IngestedDocument:
    """A document on its way through the ingest; every step adds its part.

    ``replaces``: the store has it in another form; ``unchanged``: it has it in this form, so that no step is needed.
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


def survey(path: Path, *, emptied: Callable[[], bool] = lambda: False) -> Survey:
    """The files at ``path`` under absolute uris; files of unknown formats and repeated files are set aside.

    ``emptied`` is asked of an empty folder: whether documents of it are stored.

    Raises:
        InputError: See `discorag.ingest.loaders.find_files`.
    """
    try:
        found = find_files(path)
    except InputError:
        if not (path.is_dir() and emptied()):
            raise
        found = Found(())
    root = path.resolve()
    aside = [
        DocumentOutcome(uri=(root / s.uri).as_posix(), status=Status.SKIPPED, note=s.reason) for s in found.skipped
    ]
    first: dict[str, str] = {}
    sources: dict[str, Source] = {}
    for source in sorted(found.sources, key=lambda s: s.path.is_symlink()):  # a file comes before links to it
        uri = source.path.resolve().as_posix()
        if not _utf8(uri):
            aside.append(
                DocumentOutcome(uri=source.uri, status=Status.FAILED, note="Its name is not UTF-8. Rename it.")
            )
            continue
        earlier = first.setdefault(_digest_of(source.path) or uri, uri)
        if earlier != uri:
            aside.append(DocumentOutcome(uri=uri, status=Status.DUPLICATE, note=f"Same content as {earlier}."))
        elif uri in sources:
            link = (root / source.uri).as_posix()
            aside.append(DocumentOutcome(uri=link, status=Status.DUPLICATE, note=f"Same file as {uri}."))
        else:
            sources[uri] = Source(source.path, uri)
    return Survey(tuple(sources.values()), tuple(aside))


def _utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _digest_of(path: Path) -> str:
    """Digest of a file's bytes; empty if it cannot be read or is empty, which loading will report."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() if path.stat().st_size else ""
    except OSError:
        return ""


def below(root: Path) -> str:
    """What the uris of documents begin with that were read from somewhere below a folder."""
    return root.resolve().as_posix().rstrip("/") + "/"


def find_vanished(
    stored: list[Manifest], root: Path, outcomes: list[DocumentOutcome], present: set[str]
) -> list[Manifest]:
    """Stored documents that were read from below ``root`` and are gone from the disk, or repeat another one now.

    A single file makes nothing vanish, and below what could not be looked into nothing does. A file that is not
    ``present``, because another ingest may have read it since, does not vanish either.
    """
    if not root.is_dir():
        return []
    skipped = {o.uri for o in outcomes if o.status == Status.SKIPPED}
    repeated = {o.uri for o in outcomes if o.status == Status.DUPLICATE}
    gone = [m for m in stored if m.uri not in present and (m.uri in repeated or not Path(m.uri).is_file())]
    return [m for m in gone if not any(m.uri == s or m.uri.startswith(s + "/") for s in skipped)]
