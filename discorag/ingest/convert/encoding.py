"""Bytes to text: UTF-8, or what a byte order mark names; Windows-1252 if the bytes look like it. Nothing else."""

import codecs
import re
from pathlib import Path

from discorag.ingest.convert.converted import Converted
from discorag.schema.errors import DecodingError

ENCODING = "encoding"
"""Metadata of a file that does not say its encoding: the one that was assumed."""
WESTERN = "windows-1252"
"""The Western European encoding of Windows; Latin-1 is a part of it."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HIGH = re.compile(rb"[\x80-\xff]+")


def decode_text(data: bytes, path: Path) -> Converted:
    """The text of a file, with line feeds only and without a byte order mark; the path is for messages.

    Raises:
        DecodingError: It is not text in UTF-8, in what its byte order mark names, or in Windows-1252.
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
        if marked or not _looks_western(data):
            at = f"invalid byte 0x{data[error.start]:02x} at byte {error.start}"
            hint = "Convert it, e.g.: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW (Chinese: -f GB18030)."
            raise DecodingError(f"{path} is not {(marked or 'utf-8').upper()}: {at}.", hint=hint) from error
        text, assumed = data.decode(WESTERN), {ENCODING: WESTERN}
    if "\x00" in text:
        raise DecodingError(f"{path} is not text: it holds NUL characters.", hint="Save it again as UTF-8.")
    return Converted(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), metadata=assumed)


def _looks_western(data: bytes) -> bool:
    """Whether most bytes above ASCII stand alone: in UTF-8 and in other scripts' encodings they come in runs."""
    try:
        data.decode(WESTERN)
    except UnicodeDecodeError:
        return False
    runs = [len(run) for run in _HIGH.findall(data)]
    return 2 * runs.count(1) > sum(runs)
