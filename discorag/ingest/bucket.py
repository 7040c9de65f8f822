"""Documents in S3, or in a store that speaks its protocol: listed, known by ``s3://bucket/key``, read one at a time.

Region and credentials come from the usual AWS configuration (``AWS_REGION``, profiles, the role of the
machine), another endpoint from ``AWS_ENDPOINT_URL``.
"""

# pyarrow is installed by an extra only.
# pyright: reportMissingModuleSource=false
from __future__ import annotations

import os
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from discorag.extras import extra
from discorag.schema.errors import ConfigError, DocumentTooLargeError, InputError, MissingPathError

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

SCHEME = "s3://"
_CHECK = "Check its name, AWS_REGION or AWS_ENDPOINT_URL, and the credentials."
_STEM = 80  # characters of a key's last part that its copy is named by


def is_bucket(path: str) -> bool:
    """Whether the path names something in S3."""
    return path.startswith(SCHEME)


def list_objects(path: str) -> list[str]:
    """The object ``s3://bucket/key``, or all objects below a prefix that are not hidden; names of this form, sorted.

    Raises:
        ConfigError: No bucket is named.
        InputError: It cannot be listed; `MissingPathError` if there is no such bucket.
        MissingExtraError: pyarrow is not installed.
    """
    with extra("s3"):
        from pyarrow import fs
    root = path.removeprefix(SCHEME).rstrip("/")
    bucket = root.partition("/")[0]
    if not bucket:
        raise ConfigError(f"{path} names no bucket.", hint="Write s3://bucket/prefix.")
    try:
        files = _files(bucket)
        if files.get_file_info(bucket).type == fs.FileType.NotFound:  # it is not empty: nothing has vanished
            raise MissingPathError(f"There is no bucket {bucket}.", hint=_CHECK)
        if files.get_file_info(root).type == fs.FileType.File:
            return [SCHEME + root]
        found: list[FileInfo] = files.get_file_info(fs.FileSelector(root, allow_not_found=True, recursive=True))
    except OSError as error:
        raise InputError(f"{path} cannot be listed: {error}.", hint=_CHECK) from error
    keys = sorted(f.path for f in found if f.type == fs.FileType.File)
    return [SCHEME + key for key in keys if "/." not in key.removeprefix(root)]


def download(uri: str, folder: Path, max_bytes: int) -> Path:
    """A copy of the object in a folder, under the last part of its key.

    Raises:
        DocumentTooLargeError: It is larger than ``max_bytes``; it is not fetched.
        MissingPathError: It is gone.
        InputError: It cannot be read.
    """
    from pyarrow import fs

    name, key = PurePosixPath(uri), uri.removeprefix(SCHEME)
    path = folder / f"{name.stem[:_STEM]}{name.suffix}"
    try:
        files = _files(key.partition("/")[0])
        found = files.get_file_info(key)
        if found.type != fs.FileType.File:
            raise MissingPathError(f"{uri} does not exist.", hint="Was it moved or deleted?")
        if found.size > max_bytes:
            raise DocumentTooLargeError(
                f"{uri} has {found.size / 1e6:.1f} MB; the limit is {max_bytes / 1e6:.1f} MB.",
                hint="Split the object, or raise DISCO_RAG_READING__MAX_DOCUMENT_MB.",
            )
        fs.copy_files(key, str(path), files, fs.LocalFileSystem())
    except OSError as error:
        raise InputError(f"{uri} cannot be read: {error}.", hint="Check the network and the permissions.") from error
    return path


@cache
def _files(bucket: str) -> FileSystem:
    """Arrow asks AWS for the bucket's region; of the two variables for other endpoints it knows none."""
    from pyarrow import fs

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    return fs.S3FileSystem(endpoint_override=endpoint) if endpoint else fs.FileSystem.from_uri(SCHEME + bucket)[0]
