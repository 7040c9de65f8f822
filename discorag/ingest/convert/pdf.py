"""PDF to Markdown, page by page: PDFium reads the text, pdfplumber finds where ruled tables are."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from discorag.ingest.convert.accents import with_accents
from discorag.ingest.convert.converted import Converted, stated_title
from discorag.ingest.convert.forms import Forms
from discorag.ingest.convert.glyphs import Box, Drawing, drawing, may_hold_table, shown
from discorag.ingest.convert.joining import join_pages
from discorag.ingest.convert.marks import STRUCK
from discorag.ingest.convert.page import Grid, Part, page_parts
from discorag.ingest.convert.raised import in_line
from discorag.ingest.convert.struck import not_struck
from discorag.schema.errors import DecodingError, InputError
from discorag.schema.values import amount

if TYPE_CHECKING:
    from pdfplumber.page import Page
    from pypdfium2 import PdfPage

LIBRARIES = ("pypdfium2", "pdfplumber", "pdfminer.six")
_PDFIUM = Lock()  # PDFium must not be called from two threads at once
_PASSWORD = 4  # FPDF_ERR_PASSWORD
_MAX_CROSSINGS = 5_000  # of rules on a page: pdfplumber compares each with all others, so many in half a second
_SNAP = 3  # pdfplumber's default: lines so near each other, in points, are one; shorter ones are none


@dataclass
class _Read:
    """A file as PDFium reads it."""

    pages: list[list[Part]] = field(default_factory=list[list[Part]])
    title: str = ""
    unread: Counter[str] = field(default_factory=Counter[str])


def from_pdf(data: bytes, path: Path) -> Converted:
    """The text of a PDF as its pages show it, with the pages' offsets.

    The text is in the file's order, except that columns written line by line are read one after the other. Paragraphs
    are recognised by the gaps between lines; lines that were only wrapped are joined, and so are words that are
    hyphenated at a line's end. Tables with ruled cells become pipe tables, also over pages. Running headers and
    footers are read where they first appear. The values of a form stand behind their labels. Text that cannot be seen,
    is turned, or is struck out by a line is counted, and not read.

    Raises:
        DecodingError: It is locked by a password, damaged, or not a PDF.
        InputError: No page holds text, as in a scan.
    """
    from pypdfium2 import PdfiumError

    try:
        with _PDFIUM:
            read = _read(data)
    except PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise DecodingError(f"{path} is locked by a password.", hint="Save a copy without it.") from error
        raise DecodingError(
            f"{path} is damaged or not a PDF.", hint="Open it in a viewer and print it to a new PDF."
        ) from error
    made = join_pages(read.pages)
    if not made.text.strip():
        raise InputError(
            f"{path} has {amount(len(read.pages), 'pages')} without text.",
            hint="If it is a scan, run OCR over it first (ocrmypdf).",
        )
    unread = read.unread + made.unread
    return Converted(text=made.text, title=read.title, pages=made.starts, lines=made.lines, unread=unread)


def _read(data: bytes) -> _Read:
    from pypdfium2 import PdfDocument

    read = _Read()
    with PdfDocument(data) as pdf:
        forms = Forms(pdf)
        drawings = [drawing(page) for page in pdf]
        grids = _grids(data, [i for i, drawn in enumerate(drawings) if _is_ruled(pdf[i], drawn)])
        for i, drawn in enumerate(drawings):
            read.pages.append(_parts(pdf[i], drawn, forms, grids.get(i, []), read.unread))
        read.title = stated_title(pdf.get_metadata_dict().get("Title", ""))
    return read


def _parts(page: PdfPage, drawn: Drawing, forms: Forms, grids: list[Grid], unread: Counter[str]) -> list[Part]:
    """The parts of a page; what is left out of them is added to ``unread``."""
    seen = shown(page, drawn)
    glyphs, struck = not_struck(seen.glyphs, seen.rules)
    glyphs = forms.with_values(in_line(with_accents(glyphs), seen.rules), page, unread)
    has_text = any(glyph.box for glyph in glyphs)
    scans = [] if has_text else drawn.images
    unread.update(seen.unread)
    unread.update({STRUCK: struck, "image": len(drawn.images) - len(scans), "scanned page": bool(scans)})
    parts = page_parts(glyphs, [] if seen.turn else grids)
    return [replace(part, boxes=[box.turned(-seen.turn % 360) for box in part.boxes]) for part in parts]


def _is_ruled(page: PdfPage, drawn: Drawing) -> bool:
    """Whether the page may hold a ruled table, and is not rotated, where pdfplumber's coordinates would be wrong."""
    return not page.get_rotation() and may_hold_table(drawn)


def _grids(data: bytes, numbers: list[int]) -> dict[int, list[Grid]]:
    """The ruled tables of some pages, by page index; none if pdfplumber cannot read the file."""
    if not numbers:
        return {}
    import pdfplumber

    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    found: dict[int, list[Grid]] = {}
    try:
        with pdfplumber.open(BytesIO(data), pages=[i + 1 for i in numbers]) as pdf:
            for i, page in zip(numbers, pdf.pages, strict=True):
                found[i] = _tables(page)
                page.close()
    except Exception:  # noqa: BLE001 - PDFium has read the file: what breaks a second reader costs its tables only
        return found
    return found


def _tables(page: Page) -> list[Grid]:
    """The ruled tables from the top, in PDF coordinates; none where pdfplumber would need too long to find them."""
    from pdfplumber.table import merge_edges
    from pdfplumber.utils.geometry import filter_edges

    straight = [*filter_edges(page.edges, "v"), *filter_edges(page.edges, "h")]
    edges = filter_edges(merge_edges(straight, _SNAP, _SNAP, _SNAP, _SNAP), min_length=_SNAP)
    down = sum(edge["orientation"] == "v" for edge in edges)
    if down * (len(edges) - down) > _MAX_CROSSINGS:
        return []
    height = float(page.height)
    return [
        [Box(left, height - low, right, height - high) for left, high, right, low in table.cells]
        for table in page.find_tables()
    ]
