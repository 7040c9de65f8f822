"""DOCX to Markdown: mammoth makes HTML of it, which goes the way of all HTML."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from discorag.text.convert import html
from discorag.text.convert.converted import Converted
from discorag.types.errors import DecodingError, DocumentTooLargeError
from discorag.types.extras import extra

LIBRARIES = ("mammoth", *html.LIBRARIES)
_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Code'] => pre:separator('\\n')
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='macro'] => pre:separator('\\n')
"""
_OLE = b"\xd0\xcf\x11\xe0"  # container of .doc files, and of .docx files that are locked by a password


def from_docx(data: bytes, path: Path, *, max_bytes: int) -> Converted:
    """The text of a Word document with its headings, lists, tables and footnotes; pictures are left out.

    Args:
        data: The file.
        path: Its name, for messages.
        max_bytes: Largest size of its text parts when they are unpacked.

    Raises:
        DecodingError: It is damaged, locked by a password, or no Word document.
        DocumentTooLargeError: Unpacked, it is larger than ``max_bytes``.
        MissingExtraError: The extra ``docx`` is not installed.
    """
    if data.startswith(_OLE):
        raise DecodingError(
            f"{path} is locked by a password, or a .doc file of old.", hint="Save it as .docx without a password."
        )
    try:
        size = sum(part.file_size for part in ZipFile(BytesIO(data)).infolist() if part.filename.endswith(".xml"))
    except Exception as error:  # a damaged directory of a zip raises more than BadZipFile
        raise _damaged(path) from error
    if size > max_bytes:
        raise DocumentTooLargeError(
            f"{path} has {size / 1e6:.1f} MB of text parts; the limit is {max_bytes / 1e6:.1f} MB.",
            hint="Split the file, or raise DISCO_RAG_READING__MAX_DOCUMENT_MB.",
        )
    return html.from_markup(_html(data, path), path)


def _html(data: bytes, path: Path) -> str:
    with extra("docx"):
        import mammoth

    def no_image(_: object) -> list[object]:
        return []

    try:
        made = mammoth.convert_to_html(BytesIO(data), style_map=_STYLES, convert_image=no_image)
    except Exception as error:  # mammoth has no class of its own: a missing part, bad XML and bad zips differ
        raise _damaged(path) from error
    return made.value


def _damaged(path: Path) -> DecodingError:
    return DecodingError(
        f"{path} is damaged or no Word document.", hint="Open it in a word processor and save it anew."
    )
