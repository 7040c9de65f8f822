"""XLSX to Markdown with openpyxl: each sheet is a section and a page, each block of cells in it a table."""

# openpyxl has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from discorag.ingest.convert.archive import pack
from discorag.ingest.convert.converted import Converted, join_sections, stated_title
from discorag.ingest.convert.marks import HIDDEN, STRUCK, Run, join_runs
from discorag.ingest.convert.number_format import shown
from discorag.ingest.convert.sheet import sheet_blocks
from discorag.ingest.convert.tables import Cell

LIBRARIES = ("openpyxl",)
_WHITE = "FFFFFFFF"
_INVISIBLE = ";;;"  # the number format that shows nothing
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_NOT_COMPUTED = re.compile(
    rb"<(?:\w+:)?c\b(?![^>]*\bt=.str.)[^>]*>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)


def from_xlsx(parts: Mapping[str, bytes], path: Path) -> Converted:
    """The values of a workbook as its sheets show them: formulas are not computed.

    Rows between empty rows are a table, or several side by side; lines above and below it are paragraphs. Merged cells
    span their places. Hidden sheets, rows, columns and values, struck and white ones, charts and comments are left out.
    Hidden sheets count as pages. A formula whose value the file does not store is not read.
    """
    from openpyxl import load_workbook

    book = load_workbook(pack(parts), data_only=True, keep_links=False, rich_text=True)
    unread = Counter[str]()
    for sheet in book.worksheets:
        if sheet.sheet_state == "visible":
            unread += _write_marks(sheet, book)
    text, starts = join_sections(
        [_sheet(sheet, unread) if sheet.sheet_state == "visible" else "" for sheet in book.worksheets]
    )
    title = stated_title(book.properties.title or "") or path.stem
    unread["formula without value"] = sum(
        len(_NOT_COMPUTED.findall(part)) for name, part in parts.items() if _SHEET.fullmatch(name)
    )
    return Converted(text, title=title, pages=starts, unread=+unread)


def _write_marks(sheet: Any, book: Any) -> Counter[str]:
    """Take out struck and white values, write the others on the line, and count what of a sheet is not read."""
    from openpyxl.cell.rich_text import CellRichText

    unread = Counter[str]()
    struck = {i for i, font in enumerate(book._fonts) if font.strike}
    white = {i for i, font in enumerate(book._fonts) if font.color is not None and font.color.rgb == _WHITE}
    gone, kept, headers = set[int](), set[int](), set(_header_places(sheet))
    for cell in sheet._cells.values():
        if isinstance(cell.value, CellRichText):
            unread[STRUCK] += sum(_is_struck(part) for part in cell.value)
            cell.value = join_runs(Run(str(p), _level(p)) for p in cell.value if not _is_struck(p)).strip() or None
        font, fill = (cell._style.fontId, cell._style.fillId) if cell._style else (0, 0)
        is_struck = cell.value is not None and font in struck
        unread[STRUCK] += is_struck
        has_fill = book._fills[fill].fill_type is not None or (cell.row, cell.column) in headers
        is_white = font in white and not has_fill
        unread[HIDDEN] += is_white and not is_struck and cell.value is not None
        if is_struck or is_white:
            cell.value = None
            gone.add(cell.row)
        elif cell.value is not None:
            kept.add(cell.row)
    for row in gone - kept:  # else it would end the table
        sheet.row_dimensions[row].hidden = True
    return +unread


def _is_struck(part: Any) -> bool:
    return bool(getattr(getattr(part, "font", None), "strike", None))


def _level(part: Any) -> int:
    return {"superscript": 1, "subscript": -1}.get(getattr(getattr(part, "font", None), "vertAlign", None) or "", 0)


def _sheet(sheet: Any, unread: Counter[str]) -> str:
    hidden = {
        column
        for dimension in sheet.column_dimensions.values()
        if dimension.hidden
        for column in range(dimension.min or 0, (dimension.max or 0) + 1)
    }
    places = [(cell.row, cell.column) for cell in sheet._cells.values() if cell.value is not None]
    if not places:
        return ""
    last_row, last_column = map(max, zip(*places, strict=True))  # cells beyond have only a format
    headers = set(_header_places(sheet))
    merged = _merged(sheet, headers, last_row, last_column)
    rows = [
        [merged.get((cell.row, cell.column)) or _cell(cell, headers) for cell in row if cell.column not in hidden]
        for row in sheet.iter_rows(max_row=last_row, max_col=last_column)
        if row and not sheet.row_dimensions[row[0].row].hidden
    ]
    blocks = list(sheet_blocks(rows, unread))
    return "\n\n".join([f"# {' '.join(sheet.title.split())}", *blocks]) if blocks else ""


def _header_places(sheet: Any) -> Iterator[tuple[int, int]]:
    """The rows and columns of the cells that tables and filters of a sheet have as their headers."""
    from openpyxl.utils import range_boundaries

    areas = [table.ref for table in sheet.tables.values() if table.headerRowCount != 0]
    for area in filter(None, [*areas, sheet.auto_filter.ref]):
        left, top, right, _ = range_boundaries(area)
        yield from ((top or 1, column) for column in range(left or 1, (right or 0) + 1))


def _merged(sheet: Any, headers: set[tuple[int, int]], last_row: int, last_column: int) -> dict[tuple[int, int], Cell]:
    """The cell at each place that merged cells take."""
    found: dict[tuple[int, int], Cell] = {}
    for area in sheet.merged_cells.ranges:
        if (cell := _cell(sheet.cell(area.min_row, area.min_col), headers)).text:
            rows = range(area.min_row, min(area.max_row, last_row) + 1)
            columns = range(area.min_col, min(area.max_col, last_column) + 1)
            found |= dict.fromkeys(product(rows, columns), cell)
    return found


def _cell(cell: Any, headers: set[tuple[int, int]]) -> Cell:
    text = "" if cell.value is None or cell.number_format == _INVISIBLE else shown(cell.value, cell.number_format)
    return Cell(text, is_header=(cell.row, cell.column) in headers, is_bold=bool(text) and _is_bold(cell))


def _is_bold(cell: Any) -> bool:
    fonts = cell.parent.parent._fonts  # `cell.font` makes a new object each time
    return bool(cell._style) and bool(fonts[cell._style.fontId].b)
