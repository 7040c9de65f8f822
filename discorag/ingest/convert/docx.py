"""DOCX to Markdown: mammoth makes HTML of it, which goes the way of all HTML."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from discorag.ingest.convert import html
from discorag.ingest.convert.converted import Converted
from discorag.schema.errors import DecodingError, DocumentTooLargeError

if TYPE_CHECKING:
    from lxml.etree import _Element  # pyright: ignore[reportPrivateUsage]

LIBRARIES = ("mammoth", *html.LIBRARIES)
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
"""
_OFF = ("0", "false", "off")
_OLE = b"\xd0\xcf\x11\xe0"  # container of .doc files, and of .docx files that are locked by a password


def from_docx(data: bytes, path: Path, *, max_bytes: int) -> Converted:
    """The text of a Word document with its headings, lists, tables and footnotes, without pictures and hidden text.

    Text is hidden that is marked so itself; what a style hides stays.

    Raises:
        DecodingError: It is damaged, locked by a password, or not a Word document.
        DocumentTooLargeError: Unpacked, it is larger than ``max_bytes``.
    """
    if data.startswith(_OLE):
        raise DecodingError(
            f"{path} is locked by a password, or a .doc file of old.", hint="Save it as .docx without a password."
        )
    return html.from_markup(_html(_repacked(data, path, max_bytes), path), path)


def _repacked(data: bytes, path: Path, max_bytes: int) -> bytes:
    """The file written again, with parts as long as they claim to be, and without text that is marked as hidden."""
    buffer = BytesIO()
    try:
        with ZipFile(BytesIO(data)) as packed, ZipFile(buffer, "w") as target:
            parts = packed.infolist()
            _check_size(sum(part.file_size for part in parts), path, max_bytes)
            for part in {part.filename: part for part in parts}.values():
                content = _unpacked(packed, part)
                target.writestr(part.filename, _shown(content) if part.filename.endswith(".xml") else content)
    except (DocumentTooLargeError, MemoryError):
        raise
    except Exception as error:  # a damaged zip raises more than BadZipFile
        raise _damaged(path) from error
    return buffer.getvalue()


def _check_size(size: int, path: Path, max_bytes: int) -> None:
    if size > max_bytes:
        raise DocumentTooLargeError(
            f"{path} has {size / 1e6:.1f} MB when it is unpacked; the limit is {max_bytes / 1e6:.1f} MB.",
            hint="Split the file, or raise DISCO_RAG_READING__MAX_DOCUMENT_MB.",
        )


def _unpacked(packed: ZipFile, part: ZipInfo) -> bytes:
    """A part, in the memory that its stated length takes: one that lies about it fails the check of its sum."""
    if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others cannot be unpacked in steps, and Word has none
        raise BadZipFile(part.filename)
    with packed.open(part) as file:
        return file.read(part.file_size + 1)


def _shown(part: bytes) -> bytes:
    """A part without the runs that are marked as hidden; as it is if none are, or if it is not XML."""
    from lxml import etree

    try:
        root = etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:  # its reader will say so
        return part
    runs = [run for run in root.iter("{*}r") if _is_hidden(run.find("{*}rPr/{*}vanish"))]
    for run in runs:
        if (parent := run.getparent()) is not None:
            parent.remove(run)
    return etree.tostring(root) if runs else part


def _is_hidden(mark: _Element | None) -> bool:
    """Whether the mark is there and not switched off."""
    if mark is None:
        return False
    values = [value for name, value in mark.attrib.items() if str(name).endswith("}val")]
    return not values or values[0] not in _OFF


def _html(data: bytes, path: Path) -> str:
    import mammoth

    def no_image(_: object) -> list[object]:
        return []

    try:
        result = mammoth.convert_to_html(BytesIO(data), style_map=_STYLES, convert_image=no_image)
    except MemoryError:
        raise
    except Exception as error:  # mammoth has no class of its own: a missing part, bad XML and bad zips differ
        raise _damaged(path) from error
    return result.value


def _damaged(path: Path) -> DecodingError:
    return DecodingError(
        f"{path} is damaged, or is not a Word document.", hint="Open it in a word processor and save it again."
    )
