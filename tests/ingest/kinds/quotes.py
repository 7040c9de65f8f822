"""What an answer could quote of a file."""

import zipfile
from io import BytesIO
from pathlib import Path

from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.formats import convert
from discorag.ingest.loaders import document_of, is_converted, read_text
from discorag.ingest.segment.chunks import whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.sentence_table import Sentence, sentences_in
from discorag.schema.document import Document

LIMIT = 10_000_000


def read(name: str, data: str | bytes) -> Converted:
    """The file as the loader reads it."""
    path, raw = Path(name), data.encode() if isinstance(data, str) else data
    return convert(raw, path, max_bytes=LIMIT) if is_converted(path) else read_text(raw, path)


def units(name: str, data: str | bytes) -> tuple[Sentence, ...]:
    """The units of the file."""
    document: Document = document_of(Path(name), b"", read(name, data))
    return sentences_in([whole_chunk(document, build_hierarchy(document))])


def quotes(name: str, data: str | bytes) -> list[str]:
    """The words of those units that an answer may use."""
    return [unit.body for unit in units(name, data) if unit.statement]


def with_xml(data: bytes, changes: dict[str, tuple[str, str]]) -> bytes:
    """An office file in whose parts a text is replaced: ``{part: (old, new)}``; a part without old text is added."""
    buffer, left = BytesIO(), dict(changes)
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name in left:
                before, after = left.pop(name)
                assert before in content.decode()
                content = content.decode().replace(before, after).encode()
            new.writestr(name, content)
        for name, (_, content) in left.items():
            new.writestr(name, content)
    return buffer.getvalue()
