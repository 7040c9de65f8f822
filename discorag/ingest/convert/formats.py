"""Which converter reads which files."""

from __future__ import annotations

from pathlib import Path

from discorag.ingest.convert import docx, html, pdf, records
from discorag.ingest.convert.converted import Converted
from discorag.schema.errors import EmptyDocumentError

LIBRARIES = {
    ".html": html.LIBRARIES,
    ".htm": html.LIBRARIES,
    ".xhtml": html.LIBRARIES,
    ".pdf": pdf.LIBRARIES,
    ".docx": docx.LIBRARIES,
    ".csv": (),
    ".tsv": (),
    ".json": (),
    ".jsonl": (),
    ".ndjson": (),
}
"""By suffix, the distributions that shape what is made of such a file; none where Python's own modules do."""


def convert(data: bytes, path: Path, *, max_bytes: int) -> Converted:
    """HTML, PDF, DOCX, CSV or JSON as Markdown, by its suffix. Raises as `discorag.ingest.loaders.load`."""
    if not data:
        raise EmptyDocumentError(f"{path} is empty.", hint="Remove the file or fill it.")
    match path.suffix.lower():
        case ".pdf":
            return pdf.from_pdf(data, path)
        case ".docx":
            return docx.from_docx(data, path, max_bytes=max_bytes)
        case ".csv" | ".tsv":
            return records.from_delimited(data, path)
        case ".json" | ".jsonl" | ".ndjson":
            return records.from_json(data, path)
        case _:
            return html.from_html(data, path)
