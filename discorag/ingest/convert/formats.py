"""Which converter reads which files."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from discorag.ingest.convert import delimited, docx, epub, html, pdf, pptx, rst, xlsx
from discorag.ingest.convert.archive import transitional, unpack
from discorag.ingest.convert.converted import Converted
from discorag.ingest.convert.unread import in_office_file
from discorag.schema.errors import DecodingError, DiscoRagError, InputError

_PLAIN: Mapping[str, tuple[Callable[[bytes, Path], Converted], tuple[str, ...]]] = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), (html.from_html, html.LIBRARIES)),
    ".rst": (rst.from_rst, rst.LIBRARIES),
    ".pdf": (pdf.from_pdf, pdf.LIBRARIES),
    **dict.fromkeys((".csv", ".tsv"), (delimited.from_delimited, ())),
}
_PACKED: Mapping[str, tuple[str, Callable[[Mapping[str, bytes], Path], Converted], tuple[str, ...]]] = {
    ".docx": ("a Word document", docx.from_docx, docx.LIBRARIES),
    ".pptx": ("a PowerPoint presentation", pptx.from_pptx, pptx.LIBRARIES),
    ".xlsx": ("an Excel workbook", xlsx.from_xlsx, xlsx.LIBRARIES),
    ".epub": ("an EPUB book", epub.from_epub, epub.LIBRARIES),
}
LIBRARIES = {suffix: reader[-1] for suffix, reader in (*_PLAIN.items(), *_PACKED.items())}
"""By suffix, the distributions that shape what is made of such a file; none where Python's own modules do."""


def convert(data: bytes, path: Path, *, max_bytes: int) -> Converted:
    """A file as Markdown, by its suffix; a zipped one unpacks to ``max_bytes`` at most.

    Raises as `discorag.ingest.loaders.load`.
    """
    if not data:
        raise InputError(f"{path} is empty.", hint="Remove the file or fill it.")
    suffix = path.suffix.lower()
    if suffix in _PLAIN:
        return _PLAIN[suffix][0](data, path)
    name, read, _ = _PACKED[suffix]
    try:
        parts = transitional(unpack(data, path, max_bytes))
        file = read(parts, path)
        return replace(file, unread=file.unread + in_office_file(parts))
    except (DiscoRagError, MemoryError):
        raise
    except Exception as error:  # zipfile and the libraries raise whatever they meet
        raise DecodingError(
            f"{path} is damaged, or is not {name}.", hint="Open it in its program and save it again."
        ) from error
