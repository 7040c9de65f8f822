"""PDF to Markdown, page by page: PDFium reads the text, pdfplumber finds where ruled tables are."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from discorag.ingest.convert.converted import Converted, stated_title
from discorag.ingest.convert.page import Box, Glyph, Grid, page_text
from discorag.ingest.convert.unwrap import join_pages, without_running_lines
from discorag.schema.errors import DecodingError, InputError

if TYPE_CHECKING:
    from pdfplumber.page import Page
    from pypdfium2 import PdfPage

LIBRARIES = ("pypdfium2", "pdfplumber", "pdfminer.six")
_PDFIUM = Lock()  # PDFium must not be called from two threads at once
_PASSWORD = 4  # FPDF_ERR_PASSWORD
_MIN_RULES, _MAX_RULES = 3, 2000  # fewer lines rule no table; more are a drawing, and slow to look through
_MAX_CROSSINGS = 5_000  # of rules on a page: pdfplumber compares each with all others, so many in half a second
_SNAP = 3  # pdfplumber's default: lines so near each other, in points, are one; shorter ones are none


def from_pdf(data: bytes, path: Path) -> Converted:
    """The text of a PDF in the order in which the file writes it, with the pages' offsets.

    Paragraphs are recognised by the gaps between lines; lines that were only wrapped are joined, and so are words that
    are hyphenated at a line's end. Tables with ruled cells become pipe tables. Of running headers and footers that
    repeat, the first stays.

    Raises:
        DecodingError: It is locked by a password, damaged, or not a PDF.
        InputError: No page holds text, as in a scan.
    """
    from pypdfium2 import PdfiumError

    try:
        with _PDFIUM:
            pages, title = _read(data)
    except PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise DecodingError(f"{path} is locked by a password.", hint="Save a copy without it.") from error
        raise DecodingError(
            f"{path} is damaged or not a PDF.", hint="Open it in a viewer and print it to a new PDF."
        ) from error
    text, starts = join_pages(without_running_lines(pages))
    if not text.strip():
        raise InputError(
            f"{path} has {len(pages)} pages without text.", hint="If it is a scan, run OCR over it first (ocrmypdf)."
        )
    return Converted(text=text, title=title, pages=starts)


def _read(data: bytes) -> tuple[list[str], str]:
    from pypdfium2 import PdfDocument

    with PdfDocument(data) as pdf:
        ruled = [i for i in range(len(pdf)) if _is_ruled(pdf[i])]
        grids = _grids(data, ruled)
        texts = [page_text(_glyphs(pdf[i]), grids.get(i, [])) for i in range(len(pdf))]
        return texts, stated_title(pdf.get_metadata_dict().get("Title", ""))


def _is_ruled(page: PdfPage) -> bool:
    """Whether there may be a table that pdfplumber's coordinates can be trusted for."""
    from pypdfium2.raw import FPDF_PAGEOBJ_PATH

    if page.get_rotation():
        return False
    rules = sum(1 for _ in page.get_objects(filter=[FPDF_PAGEOBJ_PATH]))
    return _MIN_RULES <= rules <= _MAX_RULES


def _glyphs(page: PdfPage) -> Iterator[Glyph]:
    from pypdfium2.raw import FPDFText_GetUnicode, FPDFText_IsGenerated

    text, rotation = page.get_textpage(), page.get_rotation()
    for i in range(text.count_chars()):
        char = chr(FPDFText_GetUnicode(text, i))
        is_generated = FPDFText_IsGenerated(text, i) == 1
        yield Glyph(
            char, None if is_generated or char.isspace() else Box(*text.get_charbox(i, loose=True)).turned(rotation)
        )


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

    def box(cell: tuple[float, ...] | None) -> Box | None:
        return Box(cell[0], height - cell[3], cell[2], height - cell[1]) if cell else None

    return [[[box(cell) for cell in row.cells] for row in table.rows] for table in page.find_tables()]
