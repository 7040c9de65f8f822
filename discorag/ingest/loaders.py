"""From files to documents: check them, read or convert them."""

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from stat import S_ISREG
from typing import TypeGuard, cast

from frontmatter.default_handlers import YAMLHandler
from yaml import BaseLoader, ScalarNode, YAMLError

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.encoding import ENCODING, decode_text
from discorag.ingest.convert.formats import LIBRARIES, convert
from discorag.ingest.convert.markdown import with_plain_tables
from discorag.ingest.convert.marks import STRUCK
from discorag.ingest.convert.unread import in_markdown
from discorag.ingest.segment.blocks import title_of
from discorag.ingest.segment.struck import struck_spans
from discorag.schema.document import Document, Markup
from discorag.schema.errors import InputError, MissingPathError, UnknownFormatError
from discorag.schema.metadata import Scalar, Value, as_words, typed

CONVERTER_VERSION = "9"
_TEXT_VERSION = "4"
_PLAIN, _MARKDOWN = (".txt", ".text"), (".md", ".markdown")
_TEXTS: dict[str, Markup] = {**dict.fromkeys(_PLAIN, Markup.NONE), **dict.fromkeys(_MARKDOWN, Markup.INLINE)}
SUFFIXES = (*_TEXTS, *LIBRARIES)
SUPPORTED = ", ".join(SUFFIXES)
_SAVE_AS = {
    **dict.fromkeys((".doc", ".odt", ".rtf"), ".docx"),
    **dict.fromkeys((".ppt", ".odp"), ".pptx"),
    **dict.fromkeys((".xls", ".ods"), ".xlsx"),
    **dict.fromkeys((".mobi", ".azw3"), ".epub"),
}
_ASCIIDOC = (".adoc", ".asciidoc")  # no free reader in Python reads real files
_PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\Z)", re.DOTALL)
_MAX_FRONT_MATTER = 65_536


@cache
def converter_version(suffix: str) -> str:
    """Version of what turns files of this suffix into canonical text; if it changes, such documents are read again."""
    libraries = LIBRARIES.get(suffix.lower())
    if libraries is None:
        return _TEXT_VERSION
    return "+".join([CONVERTER_VERSION, *(f"{name}-{_version(name)}" for name in libraries)])


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # converting will say which extra is missing
        return "none"


def is_converted(path: Path) -> bool:
    """Whether files of this suffix are converted; others are text."""
    return path.suffix.lower() in LIBRARIES


def may_take_long(data: bytes, path: Path) -> bool:
    """Whether a file is read within limits of time and memory: one to convert, or Markdown with tables of HTML."""
    return is_converted(path) or (path.suffix.lower() in _MARKDOWN and b"<table" in data.lower())


def load(path: Path, *, max_bytes: int) -> Document:
    """Read a file of at most ``max_bytes``. All but text and Markdown is converted to Markdown.

    Text and Markdown may have any line ends, which become line feeds. Tables of Markdown that need more than their own
    rows to be understood are rewritten (`with_plain_tables`); nothing else is changed. Both are read in the encoding
    of their byte order mark, as UTF-8, or in the likeliest one, which the metadata then say (`ENCODING`). YAML
    front matter of Markdown becomes metadata: text, numbers, true and false, and lists of these. A number stays text
    where that says more ("1.10", "007"). Nested values are left out. Front matter that is not
    a YAML mapping stays text.

    Raises:
        DecodingError: It has another encoding, is damaged or locked, or is not of the format that its suffix names.
        InputError: It is too large, holds no text, is being written, or cannot be opened (`MissingPathError` if it is
            gone, `UnknownFormatError` for its suffix).
    """
    data = bytes_of(path, max_bytes=max_bytes)
    return document_of(path, data, read(data, path, max_bytes=max_bytes))


def read(data: bytes, path: Path, *, max_bytes: int) -> Converted:
    """What a file with these bytes holds; a zipped one unpacks to ``max_bytes`` at most. Raises as `load`."""
    return convert(data, path, max_bytes=max_bytes) if is_converted(path) else read_text(data, path)


def bytes_of(path: Path, *, max_bytes: int) -> bytes:
    """The file, checked before and after it is read. Raises as `load`; never waits for a pipe or a device."""
    if path.suffix.lower() not in SUFFIXES:
        raise UnknownFormatError(
            f"{path} has an {unknown_format(path.suffix)}.", hint=f"Supported formats: {SUPPORTED}."
        )
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            before = os.fstat(file.fileno())
            _check(before, path, max_bytes)
            data = file.read(max_bytes + 1)
            after = os.fstat(file.fileno())
    except FileNotFoundError as error:
        raise MissingPathError(f"{path} does not exist.", hint="Was it moved or deleted?") from error
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.", hint="Check its permissions.") from error
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, len(data)):
        raise InputError(f"{path} changed while it was read.", hint="Ingest it again when it is written.")
    return data


def _check(found: os.stat_result, path: Path, max_bytes: int) -> None:
    if not S_ISREG(found.st_mode):
        raise InputError(f"{path} is not a regular file.", hint="Copy what it holds into a file.")
    if found.st_size > max_bytes:
        raise InputError(
            f"{path} has {found.st_size / 1e6:.1f} MB; the limit is {max_bytes / 1e6:.1f} MB.",
            hint="Split the file, or raise DISCO_RAG_READING__MAX_DOCUMENT_MB.",
        )


def read_text(data: bytes, path: Path) -> Converted:
    """The text of a file that `is_converted` says is text. Raises as `load`."""
    file = decode_text(data, path)
    if _TEXTS[path.suffix.lower()] is Markup.NONE:
        return file
    metadata, text = _front_matter(file.text)
    title = printable(" ".join(as_words(metadata.get("title", "")).split()))
    unread = in_markdown(text)
    unread[STRUCK] += sum(len(struck_spans(text, m.start(), m.end())) for m in _PARAGRAPH.finditer(text))
    text = with_plain_tables(text, path)
    return replace(file, text=text, title=title, metadata={**metadata, **file.metadata}, unread=+unread)


def document_of(path: Path, data: bytes, file: Converted) -> Document:
    """The document of a file with these bytes and this text. Raises `InputError` if the text is white space."""
    if not file.text.strip():
        raise InputError(f"{path} holds no text.", hint="Remove the file or fill it.")
    markup = _TEXTS.get(path.suffix.lower(), Markup.BLOCKS)
    title = file.title or (title_of(file.text) if markup is not Markup.NONE else "")
    return Document(
        uri=path.as_posix(),
        title=title or printable(path.stem),
        text=file.text,
        markup=markup,
        metadata=dict(file.metadata),
        pages=file.pages,
        lines=file.lines,
        unread=file.unread,
        file_hash=hashlib.sha256(data).hexdigest(),
        file_bytes=len(data),
    )


def reading_note(document: Document) -> str:
    """What the result of an ingest says of how the document was read; empty if there is nothing to say."""
    encoding = document.metadata.get(ENCODING)
    return f"Read as {encoding}: it is not UTF-8. If letters are wrong, save it as UTF-8." if encoding else ""


def unknown_format(suffix: str) -> str:
    """The error for a file whose suffix is not one of `SUFFIXES`."""
    if suffix.lower() in _ASCIIDOC:
        return f"unknown format {suffix}; convert it to HTML: asciidoctor FILE{suffix}"
    other = _SAVE_AS.get(suffix.lower())
    hint = f"save it as {other}" if other else "if it is text, name it .txt"
    return f"unknown format {suffix or 'without suffix'}; {hint}"


def printable(name: str) -> str:
    """``name`` with bytes that are not UTF-8 written as escapes: ids and JSON cannot hold lone surrogates."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


class _TypedLoader(BaseLoader):
    """Reads each scalar as text, and what is not quoted as the number, true or false that it is in JSON."""

    def construct_scalar(self, node: ScalarNode) -> Scalar:
        text = super().construct_scalar(node)
        return text if node.style else typed(text)


def _front_matter(text: str) -> tuple[dict[str, Value], str]:
    """Metadata and the text behind it; no metadata and the whole text if there is no valid front matter."""
    handler = YAMLHandler()
    if not handler.detect(text):
        return {}, text
    try:
        header, body = handler.split(text)
        if len(header) > _MAX_FRONT_MATTER:
            return {}, text
        values: object = handler.load(header, Loader=_TypedLoader)
    except (ValueError, YAMLError, RecursionError):  # no second "---"; no YAML; absurdly deep YAML
        return {}, text
    if not isinstance(values, dict):
        return {}, text
    found = cast("dict[Scalar, Value | dict[object, object]]", values)
    return {as_words(key): value for key, value in found.items() if _is_flat(value)}, body.lstrip("\n")


def _is_flat(value: Value | dict[object, object]) -> TypeGuard[Value]:
    parts: Sequence[object] = value if isinstance(value, list) else [value]
    return not any(isinstance(part, list | dict) for part in parts)
