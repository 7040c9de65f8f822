"""The values of a PDF's form fields, put behind their labels on the page."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from discorag.ingest.convert.glyphs import Box, Glyph, pdfium
from discorag.ingest.convert.marks import CHECKED, UNCHECKED

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

END_OF_FIELD = "\v"
"""Stands behind a value that ends its line."""
_NOT_SHOWN = 1 | 2 | 32  # annotation flags: invisible, hidden, no view
_PASSWORD = 1 << 13  # field flag
_NEAR = 1.5  # of the line height: text so near behind a box that is ticked is its label


class _Field(NamedTuple):
    """A field that shows something: ``text`` is its value, ``name`` its description in the form."""

    box: Box
    text: str
    name: str
    is_tick: bool


class Forms:
    """The form of a PDF. It must be created before any page is read."""

    def __init__(self, pdf: PdfDocument) -> None:
        self._raw = pdfium()
        if pdf.get_formtype() != self._raw.FORMTYPE_NONE:
            pdf.init_forms()
        self._form: Any = pdf.formenv.raw if pdf.formenv else None

    def with_values(self, glyphs: list[Glyph], page: PdfPage, unread: Counter[str]) -> list[Glyph]:
        """The page with the values of its fields.

        A value stands behind the text to the left of its field, else behind the text above it. Comments, and fields
        that cannot be read, are counted in ``unread``.
        """
        fields = list(self._fields(page, unread))
        added: dict[int, list[Glyph]] = {}
        for field in sorted(fields, key=lambda field: (-field.box.top, field.box.left)):
            at, written = _placed(glyphs, field)
            added.setdefault(at, []).extend(written)
        for at in sorted(added, reverse=True):
            glyphs[at:at] = added[at]
        return glyphs

    def _fields(self, page: PdfPage, unread: Counter[str]) -> Iterator[_Field]:
        raw = self._raw
        for i in range(raw.FPDFPage_GetAnnotCount(page.raw)):
            annotation = raw.FPDFPage_GetAnnot(page.raw, i)
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            if kind in (raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_FREETEXT):
                unread["comment"] += 1
            elif kind == raw.FPDF_ANNOT_WIDGET and not raw.FPDFAnnot_GetFlags(annotation) & _NOT_SHOWN:
                if found := self._field(annotation):
                    yield found
                elif self._form is None or self._kind(annotation) == raw.FPDF_FORMFIELD_SIGNATURE:
                    unread["form field"] += 1
            raw.FPDFPage_CloseAnnot(annotation)

    def _kind(self, annotation: Any) -> int:
        return self._raw.FPDFAnnot_GetFormFieldType(self._form, annotation)

    def _field(self, annotation: Any) -> _Field | None:
        """What a field shows; None if it is empty, a button, secret, or cannot be read."""
        raw = self._raw
        if self._form is None or raw.FPDFAnnot_GetFormFieldFlags(self._form, annotation) & _PASSWORD:
            return None
        kind = self._kind(annotation)
        is_tick = kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
        if is_tick:
            text = CHECKED if raw.FPDFAnnot_IsChecked(self._form, annotation) else UNCHECKED
        elif kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
            text = " ".join(self._string(raw.FPDFAnnot_GetFormFieldValue, annotation).split())
        else:
            text = ""
        rect = raw.FS_RECTF()
        if not text or not raw.FPDFAnnot_GetRect(annotation, rect):
            return None
        box = Box(rect.left, rect.bottom, rect.right, rect.top)
        name = " ".join(self._string(raw.FPDFAnnot_GetFormFieldAlternateName, annotation).split())
        return _Field(box, text, name, is_tick)

    def _string(self, read: Callable[..., int], annotation: Any) -> str:
        size = read(self._form, annotation, None, 0)
        buffer = (ctypes.c_ushort * (size // 2 + 1))()
        read(self._form, annotation, buffer, size)
        return bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")


def _placed(glyphs: Sequence[Glyph], field: _Field) -> tuple[int, list[Glyph]]:
    """The place among the glyphs at which a field's value is read, and the value as glyphs."""
    box = field.box
    line = [(i, glyph.box) for i, glyph in enumerate(glyphs) if glyph.box and _is_level(glyph.box, box)]
    behind = min((one for one in line if one[1].left >= box.right - 1), key=lambda one: one[1].left, default=None)
    before = max((one for one in line if one[1].right <= box.left + 1), key=lambda one: one[1].right, default=None)
    if field.is_tick and behind and behind[1].left - box.right < _NEAR * behind[1].height:
        return behind[0], [*_written(field.text, box, behind[1]), Glyph(" ", None)]
    if before:
        end = [] if behind else [Glyph(END_OF_FIELD, None)]
        return before[0] + 1, [Glyph(" ", None), *_written(field.text, box, before[1]), *end]
    text = f"{field.name}: {field.text}" if field.name else field.text
    above = [(one.box.bottom, i) for i, one in enumerate(glyphs) if one.box and _is_above(one.box, box)]
    at = max(i for bottom, i in above if bottom == min(above)[0]) + 1 if above else len(glyphs)
    return at, [Glyph("\n", None), *_written(text, box, box), Glyph("\n", None)]


def _is_level(box: Box, field: Box) -> bool:
    """Whether the middle of a glyph or of a field is at the height of the other one."""
    middle, other = (box.bottom + box.top) / 2, (field.bottom + field.top) / 2
    return field.bottom <= middle <= field.top or box.bottom <= other <= box.top


def _is_above(box: Box, field: Box) -> bool:
    return box.bottom >= field.top - 1 and box.right > field.left and box.left < field.right


def _written(text: str, field: Box, line: Box) -> Iterator[Glyph]:
    """A value inside its field, as high as the line that it belongs to."""
    step = min(field.right - field.left, line.height * len(text) / 2) / len(text)
    for i, char in enumerate(text):
        left = field.left + i * step
        yield Glyph(char, None if char.isspace() else Box(left, line.bottom, left + step, line.top))
