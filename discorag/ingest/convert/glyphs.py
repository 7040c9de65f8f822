"""A PDF page as PDFium draws it: its visible characters with their boxes, its images, and its thin rules."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from discorag.ingest.convert.marks import HIDDEN
from discorag.ingest.convert.signs import signs_of

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

TURNED, WATERMARK = "turned text", "watermark"
_OUTSIDE = "outside"
_INVISIBLE = (3, 7)  # text rendering modes: neither filled nor stroked
_PALE = 240  # of 255: brighter text may be white on white
_CONTRAST = 8  # of 255: least difference of what is drawn where a visible character is
_TINY = 1.5  # points: smaller text cannot be read
_LARGE, _FAINT = 30, 128  # points, and opacity of 255: larger text that lets through what is below it is a watermark
_ARTEFACT = "Artifact\0".encode("utf-16-le")
_FONT_NAME = 16  # bytes: longer names do not matter
_STRAIGHT = 0.1  # radians that upright text may be turned by, as in a scan
_PIXELS = 4_000_000  # of the picture of a page, at most
_RULE, _LONG = 3.0, 3.0  # points: the height of a rule with the room for its stroke, at most; its width, at least
_RECTANGLE = 6  # segments of a path, at most; one of more may be a whole grid
_COLUMNS = 2  # of a table, at least
_LEAST_IMAGE = 20.0  # points: smaller images are ornaments
_DEEP = 3  # groups in groups in which images are counted
_MAX_PATHS = 2000  # a page of more is a drawing, and slow to look through


@cache
def pdfium() -> Any:
    """PDFium's own functions, of which pypdfium2 does not give the types."""
    return import_module("pypdfium2.raw")


class Box(NamedTuple):
    """A rectangle in points, from the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        """The distance from bottom to top."""
        return self.top - self.bottom

    def turned(self, degrees: int) -> Box:
        """The box on a page that is shown turned clockwise by 0, 90, 180 or 270 degrees."""
        left, bottom, right, top = self
        for _ in range(degrees // 90):
            left, bottom, right, top = bottom, -right, top, -left
        return Box(left, bottom, right, top)

    def holds(self, other: Box) -> bool:
        """Whether the middle of ``other`` lies inside."""
        x, y = (other.left + other.right) / 2, (other.bottom + other.top) / 2
        return self.left <= x <= self.right and self.bottom <= y <= self.top


class Glyph(NamedTuple):
    """One character; white space has no box."""

    char: str
    box: Box | None


@dataclass
class Drawing:
    """What a page shows other than text.

    ``paths`` counts lines and shapes, ``rules`` are thin level lines. ``uprights`` are the places from the left where
    something ends or a line stands.
    """

    paths: int = 0
    uprights: set[int] = field(default_factory=set[int])
    images: list[Box] = field(default_factory=list[Box])
    rules: list[Box] = field(default_factory=list[Box])


@dataclass(frozen=True)
class Shown:
    """The visible text of a page, in the file's order, and how often something else was left out, by kind.

    ``turn`` is by how many degrees, clockwise, the page was turned so that most of its text is upright: glyphs
    are in the coordinates of the turned page, and such a page has no rules.
    """

    glyphs: list[Glyph]
    rules: list[Box]
    unread: Counter[str]
    turn: int


_Seen = tuple[Glyph, int | None, str]
"""A character, its direction, and why it is left out; empty if it is not."""


class _Look(NamedTuple):
    """How a text object is drawn.

    ``quarter`` is its direction in quarters of a turn, None if it is slanted; ``is_outside`` says that it begins
    outside the crop box. ``signs`` are characters that PDFium reads as others.
    """

    quarter: int | None
    is_outside: bool
    is_invisible: bool
    is_pale: bool
    is_small: bool
    is_watermark: bool
    signs: Mapping[str, str]


def drawing(page: PdfPage) -> Drawing:
    """The images and rules of a page."""
    raw = pdfium()
    found = Drawing()
    for item in _objects(page.raw, raw.FPDFPage_CountObjects, raw.FPDFPage_GetObject):
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            found.paths += 1
            if found.paths <= _MAX_PATHS and (box := _bounds(item)):
                _add_path(found, box, raw.FPDFPath_CountSegments(item))
        elif kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM) and _has_image(item, _DEEP):
            box = _bounds(item)
            if box and box.height >= _LEAST_IMAGE and box.right - box.left >= _LEAST_IMAGE:
                found.images.append(box)
    return found


def shown(page: PdfPage, drawn: Drawing) -> Shown:
    """The visible text of a page.

    Text is left out if it is turned otherwise than most text of the page, a watermark, smaller than can be read,
    outside the crop box, of the colour of what is behind it, or drawn invisibly. Invisible text over an image is what
    OCR read in a scan, and stays.
    """
    text = page.get_textpage()
    sight = _Sight(page, text, drawn)
    unread: Counter[str] = Counter()
    seen = list(_with_overflow(sight.glyphs()))
    quarters = Counter(quarter for _, quarter, reason in seen if not reason and quarter is not None)
    upright = quarters.most_common(1)[0][0] if quarters else 0
    turn = -90 * upright % 360
    glyphs: list[Glyph] = []
    last = ""
    for glyph, quarter, why in seen:
        if not glyph.box:
            glyphs.append(glyph)
            last = "" if glyph.char in "\r\n" else last
            continue
        reason = why or ("" if quarter == upright else TURNED)
        if not reason:
            glyphs.append(Glyph(glyph.char, glyph.box.turned(turn)) if turn else glyph)
        elif reason != last:
            unread[reason] += 1
        last = reason
    return Shown(glyphs, [] if turn else drawn.rules, unread, turn)


def _with_overflow(seen: Iterator[_Seen]) -> Iterator[_Seen]:
    """The characters; those outside the crop box are hidden, unless they end a line that begins inside."""
    has_begun = False
    for glyph, quarter, why in seen:
        has_begun = glyph.char not in "\r\n" and (has_begun or (glyph.box is not None and not why))
        yield glyph, quarter, why if why != _OUTSIDE else "" if has_begun else HIDDEN


class _Sight:
    """Decides which characters of a page can be seen."""

    def __init__(self, page: PdfPage, text: PdfTextPage, drawn: Drawing) -> None:
        raw = pdfium()
        self._page, self._text, self._drawn, self._raw = page, text, drawn, raw
        self._crop = Box(*page.get_bbox())
        self._looks: dict[int, _Look] = {}

    def glyphs(self) -> Iterator[_Seen]:
        """The characters of the page in the file's order."""
        raw, text = self._raw, self._text.raw
        rect = raw.FS_RECTF()
        unicode, loose, owner = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox, raw.FPDFText_GetTextObject
        for i in range(raw.FPDFText_CountChars(text)):
            char = chr(unicode(text, i))
            if char.isspace():
                yield Glyph(char, None), None, ""
                continue
            loose(text, i, rect)
            box = Box(rect.left, rect.bottom, rect.right, rect.top)
            item = owner(text, i)
            address = ctypes.addressof(item.contents) if item else 0
            look = self._looks.get(address)
            if look is None:
                look = self._looks[address] = self._look(item, i, not self._crop.holds(box))
            yield Glyph(look.signs.get(char, char), box), look.quarter, self._reason(look, box, i)

    def _reason(self, look: _Look, box: Box, i: int) -> str:
        if look.is_watermark:
            return WATERMARK
        if look.quarter is None:
            return TURNED
        if look.is_outside:
            return _OUTSIDE
        is_hidden = (
            (look.is_invisible and not any(image.holds(box) for image in self._drawn.images))
            or (look.is_small and box.height < _TINY)
            or (look.is_pale and not self._is_drawn(i))
        )
        return HIDDEN if is_hidden else ""

    def _look(self, item: Any, i: int, is_outside: bool) -> _Look:
        raw = self._raw
        angle = raw.FPDFText_GetCharAngle(self._text.raw, i) / (math.pi / 2)
        quarter = round(angle) % 4 if abs(angle - round(angle)) * math.pi / 2 < _STRAIGHT else None
        if not item:
            return _Look(quarter, is_outside, False, False, False, False, {})
        mode = raw.FPDFTextObj_GetTextRenderMode(item)
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        has_colour = raw.FPDFPageObj_GetFillColor(item, red, green, blue, alpha)
        is_filled = bool(has_colour) and mode not in (1, 5)
        font, matrix = ctypes.c_float(), raw.FS_MATRIX()
        raw.FPDFTextObj_GetFontSize(item, font)
        raw.FPDFPageObj_GetMatrix(item, matrix)
        size = abs(font.value) * math.hypot(matrix.c, matrix.d)
        return _Look(
            quarter=quarter,
            is_outside=is_outside,
            is_invisible=mode in _INVISIBLE or (is_filled and alpha.value == 0),
            is_pale=is_filled and min(red.value, green.value, blue.value) >= _PALE,
            is_small=size < _TINY,
            is_watermark=size > _LARGE and (alpha.value <= _FAINT or _is_artefact(item)),
            signs=signs_of(self._font(i)),
        )

    def _font(self, i: int) -> str:
        """The name of the font of a character."""
        name, flags = ctypes.create_string_buffer(_FONT_NAME), ctypes.c_int()
        self._raw.FPDFText_GetFontInfo(self._text.raw, i, name, _FONT_NAME, flags)
        return name.value.decode("latin-1")

    def _is_drawn(self, i: int) -> bool:
        """Whether the picture of the page has more than one colour where this character is."""
        return self._stands_out(Box(*self._text.get_charbox(i)))

    @cached_property
    def _stands_out(self) -> Callable[[Box], bool]:
        return _picture(self._page)


def _picture(page: PdfPage) -> Callable[[Box], bool]:
    """Renders a page; the function says whether anything stands out in a box of it."""
    raw = pdfium()
    width, height = page.get_size()
    scale = min(2.0, math.sqrt(_PIXELS / max(1.0, width * height)))
    pixels = page.render(scale=scale, grayscale=True).to_numpy()
    rows, columns = pixels.shape[:2]

    def place(x: float, y: float) -> tuple[int, int]:
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page.raw, 0, 0, columns, rows, 0, x, y, across, down)
        return across.value, down.value

    def stands_out(box: Box) -> bool:
        (x0, y0), (x1, y1) = place(box.left, box.bottom), place(box.right, box.top)
        part = pixels[max(0, min(y0, y1)) : max(y0, y1) + 1, max(0, min(x0, x1)) : max(x0, x1) + 1]
        return part.size > 0 and int(part.max()) - int(part.min()) > _CONTRAST

    return stands_out


def _is_artefact(item: Any) -> bool:
    """Whether the file marks an object as decoration or part of the layout, and not as content."""
    raw = pdfium()
    buffer, size = (ctypes.c_ushort * (len(_ARTEFACT) // 2))(), ctypes.c_ulong()
    for mark in _objects(item, raw.FPDFPageObj_CountMarks, raw.FPDFPageObj_GetMark):
        if raw.FPDFPageObjMark_GetName(mark, buffer, len(_ARTEFACT), size) and bytes(buffer) == _ARTEFACT:
            return True
    return False


def _objects(holder: Any, count: Callable[[Any], int], get: Callable[[Any, int], Any]) -> Iterator[Any]:
    for i in range(count(holder)):
        yield get(holder, i)


def _has_image(item: Any, depth: int) -> bool:
    raw = pdfium()
    kind = raw.FPDFPageObj_GetType(item)
    if kind != raw.FPDF_PAGEOBJ_FORM or not depth:
        return kind == raw.FPDF_PAGEOBJ_IMAGE
    inside = _objects(item, raw.FPDFFormObj_CountObjects, raw.FPDFFormObj_GetObject)
    return any(_has_image(one, depth - 1) for one in inside)


def _bounds(item: Any) -> Box | None:
    raw = pdfium()
    sides = [ctypes.c_float() for _ in range(4)]
    return Box(*(side.value for side in sides)) if raw.FPDFPageObj_GetBounds(item, *sides) else None


def _add_path(found: Drawing, box: Box, segments: int) -> None:
    if box.height <= _RULE:
        if box.right - box.left >= _LONG:
            found.rules.append(box)
    elif segments > _RECTANGLE:
        found.uprights.update(range(_COLUMNS + 1))
    elif box.right - box.left <= _RULE:
        found.uprights.add(round((box.left + box.right) / 2 / _LONG))
    else:
        found.uprights.update((round(box.left / _LONG), round(box.right / _LONG)))


def may_hold_table(drawn: Drawing) -> bool:
    """Whether a page has what it takes to enclose the cells of two columns, and is not a drawing of many lines."""
    return drawn.paths <= _MAX_PATHS and len(drawn.uprights) > _COLUMNS
