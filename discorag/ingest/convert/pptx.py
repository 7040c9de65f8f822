"""PPTX to Markdown with python-pptx: each slide is a section and a page."""

# python-pptx is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discorag.ingest.convert.archive import pack, tree_of
from discorag.ingest.convert.converted import Converted, join_sections, literal, stated_title
from discorag.ingest.convert.drawing import write_slide
from discorag.ingest.convert.tables import Cell, Table, table_markdown

LIBRARIES = ("python-pptx",)
_NO, _YES = ("0", "false"), ("1", "true")
_SLIDE = re.compile(r"ppt/slides/[^/]+\.xml")
_INDENT = "  "  # of an item, for each level


def from_pptx(parts: Mapping[str, bytes], _: Path) -> Converted:
    """The text of slides in the order of the file: titles as headings, bodies as lists, text boxes, and tables.

    A title slide's title stands above the others. Left out are hidden slides and shapes, struck text, pictures, charts,
    speaker notes, and the footers, dates and numbers that slides repeat. Hidden slides count as pages, as in
    PowerPoint.
    """
    from lxml.etree import tostring
    from pptx import Presentation

    trees = {name: tree_of(part) for name, part in parts.items() if _SLIDE.fullmatch(name)}
    shown = [tree for tree in trees.values() if tree.get("show", "") not in _NO]
    unread = sum(map(write_slide, shown), Counter[str]())
    deck = Presentation(pack({**parts, **{name: tostring(tree) for name, tree in trees.items()}}))
    slides = ["" if slide.element.get("show") in _NO else _slide(slide.shapes, unread) for slide in deck.slides]
    text, starts = join_sections(slides)
    return Converted(text, title=stated_title(deck.core_properties.title), pages=starts, unread=unread)


def _slide(shapes: Any, unread: Counter[str]) -> str:
    from pptx.enum.shapes import PP_PLACEHOLDER

    title, heading = shapes.title, ""
    if (
        title is not None
        and title.has_text_frame
        and not _is_hidden(title)
        and (name := " ".join(title.text_frame.text.split()))
    ):
        heading = f"{'#' if title.placeholder_format.type == PP_PLACEHOLDER.CENTER_TITLE else '##'} {name}"
    others = (shape for shape in _visible(shapes) if title is None or shape.shape_id != title.shape_id)
    return "\n\n".join(filter(None, [heading, *(_text(shape, unread) for shape in others)]))


def _visible(shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes, also of groups, that are neither hidden nor the same on every slide."""
    from pptx.enum.shapes import PP_PLACEHOLDER

    furniture = {PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER, PP_PLACEHOLDER.SLIDE_NUMBER}
    for shape in shapes:
        if _is_hidden(shape):
            continue
        if hasattr(shape, "shapes"):
            yield from _visible(shape.shapes)
        elif not (shape.is_placeholder and shape.placeholder_format.type in furniture):
            yield shape


def _items(paragraphs: Sequence[tuple[int, str]]) -> Iterator[str]:
    """A list in which no item is so far to the right of the one before that Markdown would take it for code."""
    least, depth = min(level for level, _ in paragraphs), -1
    for level, text in paragraphs:
        depth = min(level - least, depth + 1)
        yield f"{_INDENT * depth}- {text}"


def _is_hidden(shape: Any) -> bool:
    """Whether it is hidden itself; the first properties in a group are the group's own."""
    return shape.element.xpath("string((.//p:cNvPr)[1]/@hidden)") in _YES


def _text(shape: Any, unread: Counter[str]) -> str:
    """A table, the items of a slide's body, or the paragraphs of a text box; empty for all else."""
    if getattr(shape, "has_table", False):
        return table_markdown(_table(shape.table), unread)
    if not shape.has_text_frame:
        return ""
    paragraphs = [(p.level, " ".join(p.text.split())) for p in shape.text_frame.paragraphs]
    shown = [(level, literal(text)) for level, text in paragraphs if text]
    if shape.is_placeholder and len(shown) > 1:
        return "\n".join(_items(shown))
    return "\n\n".join(text for _, text in shown)


def _table(table: Any) -> Table:
    """A table; its style sets the first row in bold, or does not."""
    rows = [
        [
            Cell(cell.text, cell.span_height, cell.span_width, is_bold=_is_bold(cell) or (i == 0 and table.first_row))
            for cell in row.cells
            if not cell.is_spanned
        ]
        for i, row in enumerate(table.rows)
    ]
    return Table(rows, header_rows=None if rows and rows[0] and rows[0][0].is_bold else 0)


def _is_bold(cell: Any) -> bool:
    runs = [run for paragraph in cell.text_frame.paragraphs for run in paragraph.runs if run.text.strip()]
    return bool(runs) and all(run.font.bold for run in runs)
