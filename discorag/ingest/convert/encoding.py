"""Bytes to text: UTF-8, or what a byte order mark names; else the encoding that chardet finds likely enough."""

import codecs
import re
from pathlib import Path

from discorag.ingest.convert.converted import Converted
from discorag.schema.errors import DecodingError

ENCODING = "encoding"
"""Metadata of a file that does not say its encoding: the one that was assumed."""
_WESTERN = "windows-1252"
_LATIN = (
    *("iso-8859-1", "iso-8859-2", "iso-8859-9", "iso-8859-13", "iso-8859-15"),
    *("windows-1250", _WESTERN, "windows-1254", "windows-1257"),
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HIGH = re.compile(rb"[\x80-\xff]+")
_CONTROLS = re.compile("[\x80-\x84\x86-\x9f]")
_SAMPLE, _NAMED = 200_000, 4  # bytes that are looked at; encodings that a refusal names
_SURE, _EQUAL = 0.05, 0.02
"""chardet's least confidence; a difference that says nothing. Texts of one sentence have .08 and more, others .3."""
_DAMAGED = 0.8
"""The share of bytes above ASCII that are valid UTF-8 from which on it is no other encoding."""


def decode_text(data: bytes, path: Path) -> Converted:
    """The text of a file, with line feeds only and without a byte order mark; the path is for messages.

    Raises:
        DecodingError: It is not text in UTF-8 or in what its byte order mark names, and no encoding is likely enough.
    """
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if not marked and (nul := data.find(b"\x00")) >= 0:
        raise DecodingError(
            f"{path} is not text: a NUL byte at byte {nul}.",
            hint="If it is UTF-16, convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW.",
        )
    try:
        text, assumed = data.decode(marked or "utf-8"), dict[str, str]()
    except UnicodeDecodeError as error:
        name, others = ("", []) if marked else guess_encoding(data)
        if not name:
            raise _refusal(path, marked or "utf-8", error, others) from error
        text, assumed = data.decode(name), {ENCODING: name}
    if "\x00" in text:
        raise DecodingError(f"{path} is not text: it holds NUL characters.", hint="Save it again as UTF-8.")
    return Converted(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), metadata=assumed)


def guess_encoding(data: bytes) -> tuple[str, list[str]]:
    """The encoding of bytes that are not UTF-8, empty if none is likely enough; and those that are likeliest.

    If most bytes above ASCII stand alone, it is that of a Latin script, and Windows-1252 if nothing speaks for another.
    """
    import chardet

    high = _HIGH.findall(data)
    valid = sum(len(c.encode()) for c in data.decode(errors="ignore") if not c.isascii())
    if valid > _DAMAGED * sum(map(len, high)):
        return "", []
    is_latin = 2 * sum(len(run) == 1 for run in high) > sum(map(len, high))
    sample = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SAMPLE]
    era, known = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO, _LATIN if is_latin else None
    guesses = chardet.detect_all(sample, ignore_threshold=True, encoding_era=era, include_encodings=known)
    found = {name: one["confidence"] for one in guesses if _decodes(data, name := (one["encoding"] or "").lower())}
    sure, western = max(found.values(), default=0), found.get(_WESTERN, -1.0)
    is_enough = is_latin if sure < _SURE else western >= sure - _EQUAL
    if western >= 0 and is_enough:
        return _WESTERN, []
    return next(iter(found)) if sure >= _SURE else "", list(found)[:_NAMED]


def _decodes(data: bytes, name: str) -> bool:
    """Whether it is text in this encoding, without control characters that texts do not have."""
    try:
        return not _CONTROLS.search(data.decode(name))
    except (UnicodeDecodeError, LookupError):
        return False


def _refusal(path: Path, name: str, error: UnicodeDecodeError, likely: list[str]) -> DecodingError:
    """The error for bytes that ``error`` says are not in the encoding ``name``, and in no other for sure."""
    names = [other.upper() for other in likely]
    convert = f"Convert it, if it is {' or '.join(names)}: iconv -f {names[0]} -t UTF-8 OLD > NEW." if names else ""
    return DecodingError(
        f"{path} is not {name.upper()}: invalid byte 0x{error.object[error.start]:02x} at byte {error.start}.",
        hint=convert or f"Save it again as UTF-8, or leave out what is damaged: iconv -c -f {name.upper()} OLD > NEW.",
    )
