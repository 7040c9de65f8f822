"""Documents in S3, or in a store that speaks its protocol: listed, known by ``s3://bucket/key``, read one at a time.

Region and credentials are taken from where the tools of AWS take them (``AWS_REGION``, profiles, the role of the
machine), another endpoint from ``AWS_ENDPOINT_URL``.
"""

# pyarrow is installed by an extra only.
# pyright: reportMissingModuleSource=false
from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from discorag.extras import extra
from discorag.ingest import survey as disk
from discorag.ingest.loaders import SUFFIXES, Source, unknown_format
from discorag.ingest.survey import DocumentOutcome, Status, Survey, find_vanished, survey
from discorag.schema.errors import ConfigError, DocumentTooLargeError, InputError, MissingPathError
from discorag.store.records import Manifest

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

SCHEME = "s3://"
_CHECK = "Check its name, AWS_REGION or AWS_ENDPOINT_URL, and the credentials."
_STEM = 80  # characters of a key's last part that its temporary file is named by


def is_bucket(path: str) -> bool:
    """Whether the path names something in S3."""
    return path.startswith(SCHEME)


def absolute(path: str) -> str:
    """The path in full, as documents below it are known."""
    return path.rstrip("/") if is_bucket(path) else str(Path(path).resolve())


def below(path: str) -> str:
    """What the uris of documents begin with that were read from somewhere below a path."""
    return absolute(path) + "/" if is_bucket(path) else disk.below(Path(path))


def survey_at(path: str, *, emptied: Callable[[], bool] = lambda: False) -> Survey:
    """What is at a path on disk or in S3 (``s3://bucket``, ``s3://bucket/prefix``, one object); see `survey`.

    Objects of unknown formats are set aside, hidden ones left out. Duplicates are not found: all objects would have to
    be read. ``emptied`` is asked where there is nothing to read: whether documents from below ``path`` are stored.

    Raises:
        InputError: Nothing that can be read is there, or a bucket cannot be listed.
        MissingExtraError: S3 is asked for, and pyarrow is not installed.
    """
    if not is_bucket(path):
        return survey(Path(path), emptied=emptied)
    root = _key(path)
    names = [name for name in _list(root) if not _hidden(name, root)]
    sources = tuple(Source(Path(name), SCHEME + name) for name in names if _suffix(name) in SUFFIXES)
    if not sources and not emptied():
        raise InputError(f"{path} holds no object to read.", hint=f"Supported are {', '.join(SUFFIXES)}.")
    return Survey(sources, tuple(_aside(name) for name in names if _suffix(name) not in SUFFIXES))


def find_vanished_at(
    path: str, stored: list[Manifest], outcomes: list[DocumentOutcome], present: set[str]
) -> list[Manifest]:
    """See `discorag.ingest.survey.find_vanished`; a single object makes nothing vanish either."""
    if not is_bucket(path):
        return find_vanished(stored, Path(path), outcomes, present)
    return [m for m in stored if m.uri not in present] if path not in present else []


@contextmanager
def fetch(uri: str, max_bytes: int) -> Generator[Path]:
    """A copy of the object in a temporary folder, under the last part of its key.

    Raises:
        DocumentTooLargeError: It is larger than ``max_bytes``; it is not fetched.
        MissingPathError: It is gone.
        InputError: It cannot be read.
    """
    name = PurePosixPath(uri)
    with TemporaryDirectory(prefix="disco-rag-") as folder:
        path = Path(folder, name.stem[:_STEM] + name.suffix)
        try:
            _copy(_key(uri), path, uri, max_bytes)
        except OSError as error:
            raise InputError(
                f"{uri} cannot be read: {error}.", hint="Check the network and the permissions."
            ) from error
        yield path


def _copy(key: str, path: Path, uri: str, max_bytes: int) -> None:
    from pyarrow import fs

    files = _files(_bucket(key))
    found = files.get_file_info(key)
    if found.type != fs.FileType.File:
        raise MissingPathError(f"{uri} does not exist.", hint="Was it moved or deleted?")
    if found.size > max_bytes:
        raise DocumentTooLargeError(
            f"{uri} has {found.size / 1e6:.1f} MB; the limit is {max_bytes / 1e6:.1f} MB.",
            hint="Split the object, or raise DISCO_RAG_READING__MAX_DOCUMENT_MB.",
        )
    fs.copy_files(key, str(path), files, fs.LocalFileSystem())


def _list(root: str) -> list[str]:
    """Bucket and key of every object, sorted."""
    with extra("s3"):
        from pyarrow import fs
    try:
        files = _files(_bucket(root))
        if files.get_file_info(_bucket(root)).type == fs.FileType.NotFound:  # it is not empty: nothing has vanished
            raise MissingPathError(f"There is no bucket {_bucket(root)}.", hint=_CHECK)
        if files.get_file_info(root).type == fs.FileType.File:
            return [root]
        found: list[FileInfo] = files.get_file_info(fs.FileSelector(root, allow_not_found=True, recursive=True))
    except OSError as error:
        raise InputError(f"{SCHEME}{root} cannot be listed: {error}.", hint=_CHECK) from error
    return sorted(f.path for f in found if f.type == fs.FileType.File)


@cache
def _files(bucket: str) -> FileSystem:
    """Arrow asks AWS for the bucket's region; of the two variables for other endpoints it knows none."""
    from pyarrow import fs

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return fs.S3FileSystem(endpoint_override=endpoint) if endpoint else fs.FileSystem.from_uri(SCHEME + bucket)[0]


def _key(uri: str) -> str:
    """Bucket and key, as pyarrow wants them. Raises `ConfigError` where no bucket is named."""
    key = uri.removeprefix(SCHEME).rstrip("/")
    if not _bucket(key):
        raise ConfigError(f"{uri} names no bucket.", hint="Write s3://bucket/prefix.")
    return key


def _bucket(key: str) -> str:
    return key.partition("/")[0]


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _hidden(name: str, root: str) -> bool:
    return any(part.startswith(".") for part in name.removeprefix(root).split("/"))


def _aside(name: str) -> DocumentOutcome:
    return DocumentOutcome(uri=SCHEME + name, status=Status.SKIPPED, note=unknown_format(_suffix(name)))
