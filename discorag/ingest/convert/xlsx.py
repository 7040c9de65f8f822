"""XLSX to Markdown with openpyxl: each sheet is a section and a page, each block of cells in it a table."""

# openpyxl has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, time
from itertools import groupby
from pathlib import Path
from typing import Any

from discorag.ingest.convert.archive import pack
from discorag.ingest.convert.converted import Converted, join_sections, literal, stated_title
from discorag.ingest.convert.marks import COMMENT, STRUCK, Run, join_runs
from discorag.ingest.convert.tables import table_markdown, table_of

LIBRARIES = ("openpyxl",)
_WHITE = "FFFFFFFF"
_INVISIBLE = ";;;"  # the number format that shows nothing


def from_xlsx(parts: Mapping[str, bytes], path: Path) -> Converted:
    """The values of a workbook, as the file stores them: formulas are not computed.

    Rows between empty rows are a table; lines above and below it are paragraphs. Hidden sheets, rows, columns and
    values, struck and white ones, charts and comments are left out. Hidden sheets count as pages.
    """
    from openpyxl import load_workbook

    book = load_workbook(pack(parts), data_only=True, keep_links=False, rich_text=True)
    unread = Counter[str]()
    for sheet in book.worksheets:
        if sheet.sheet_state == "visible":
            unread += _write_marks(sheet, book)
    text, starts = join_sections([_sheet(sheet) if sheet.sheet_state == "visible" else "" for sheet in book.worksheets])
    title = stated_title(book.properties.title or "") or path.stem
    return Converted(text, title=title, pages=starts, unread=dict(unread))


def _write_marks(sheet: Any, book: Any) -> Counter[str]:
    """Take out struck and white values, write the others on the line, and count what of a sheet is not read."""
    from openpyxl.cell.rich_text import CellRichText

    unread = Counter({"image": len(sheet._images), "chart": len(sheet._charts)})
    struck = {i for i, font in enumerate(book._fonts) if font.strike}
    white = {i for i, font in enumerate(book._fonts) if font.color is not None and font.color.rgb == _WHITE}
    gone, kept = set[int](), set[int]()
    for cell in sheet._cells.values():
        unread[COMMENT] += cell.comment is not None
        if isinstance(cell.value, CellRichText):
            unread[STRUCK] += sum(_is_struck(part) for part in cell.value)
            cell.value = join_runs(Run(str(p), _level(p)) for p in cell.value if not _is_struck(p)).strip() or None
        is_struck = cell.value is not None and cell._style.fontId in struck
        unread[STRUCK] += is_struck
        if is_struck or (cell._style.fontId in white and book._fills[cell._style.fillId].fill_type is None):
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


def _sheet(sheet: Any) -> str:
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
    rows = [
        [_text(cell) for cell in row if cell.column not in hidden]
        for row in sheet.iter_rows(max_row=last_row, max_col=last_column)
        if row and not sheet.row_dimensions[row[0].row].hidden
    ]
    blocks = [block for filled, group in groupby(rows, any) if filled for block in _blocks(list(group))]
    return "\n\n".join([f"# {' '.join(sheet.title.split())}", *blocks]) if blocks else ""


def _blocks(rows: list[list[str]]) -> Iterator[str]:
    """Rows without an empty row between them: a table, with paragraphs for rows of one cell above and below it."""
    is_alone = [sum(map(bool, row)) == 1 for row in rows]
    top = is_alone.index(False) if not all(is_alone) else len(rows)
    bottom = max(top, len(rows) - (is_alone[::-1].index(False) if top < len(rows) else 0))
    yield from (literal(" ".join("".join(row).split())) for row in rows[:top])
    if table := rows[top:bottom]:
        columns = [i for i, column in enumerate(zip(*table, strict=True)) if any(column)]
        yield table_markdown(table_of([[row[i] for i in columns] for row in table]))
    yield from (literal(" ".join("".join(row).split())) for row in rows[bottom:])


def _text(cell: Any) -> str:
    """A value about as the sheet shows it."""
    value = cell.value
    if value is None or cell.number_format == _INVISIBLE:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, float | int) and not isinstance(value, bool) and cell.number_format.endswith("%"):
        return f"{100 * value:.12g}%"
    return f"{value:.15g}" if isinstance(value, float) else str(value).strip()
