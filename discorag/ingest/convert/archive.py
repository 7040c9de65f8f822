"""Zipped formats: their parts, in the memory that the archive states, and an archive of parts again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from discorag.schema.errors import DecodingError, InputError

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_OLE = b"\xd0\xcf\x11\xe0"  # container of .doc files, and of .docx files that are locked by a password


def unpack(data: bytes, path: Path, max_bytes: int) -> dict[str, bytes]:
    """The parts of an archive by name; of those that share a name, the last.

    Raises:
        DecodingError: It is locked by a password.
        InputError: Its parts together are larger than ``max_bytes``.
        BadZipFile: It is damaged, or a part is longer than it claims to be. A damaged zip raises other errors too.
    """
    if data.startswith(_OLE):
        raise DecodingError(
            f"{path} is locked by a password, or of an older format.",
            hint=f"Save it as {path.suffix.lower()} without a password.",
        )
    with ZipFile(BytesIO(data)) as archive:
        parts = {part.filename: part for part in archive.infolist()}
        size = sum(part.file_size for part in archive.infolist())
        if size > max_bytes:
            raise InputError(
                f"{path} has {size / 1e6:.1f} MB when it is unpacked; the limit is {max_bytes / 1e6:.1f} MB.",
                hint="Split the file, or raise DISCO_RAG_READING__MAX_DOCUMENT_MB.",
            )
        if any(part.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for part in parts.values()):
            raise BadZipFile(path)  # others cannot be unpacked in steps, and no office suite writes them
        contents: dict[str, bytes] = {}
        for name, part in parts.items():
            with archive.open(part) as file:  # one that lies about its length fails the check of its sum
                contents[name] = file.read(part.file_size + 1)
        return contents


def transitional(parts: Mapping[str, bytes]) -> dict[str, bytes]:
    """The parts of an Office file with the names of its usual form, which libraries know, instead of the strict one."""
    return {name: _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", part) for name, part in parts.items()}


def pack(parts: Mapping[str, bytes]) -> BytesIO:
    """A ZIP archive of these parts, by name."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer


def tree_of(part: bytes, *, recover: bool = False) -> _Element:
    """The root of an XML part, parsed without access to anything outside it.

    Raises lxml's `XMLSyntaxError`, unless ``recover`` asks to read on behind an error.
    """
    from lxml import etree

    return etree.fromstring(part, etree.XMLParser(recover=recover, resolve_entities=False, no_network=True))
