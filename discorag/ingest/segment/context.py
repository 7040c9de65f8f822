"""What stands around a unit by layout: the headings above it, and the unit that introduces it."""

from __future__ import annotations

from dataclasses import dataclass, field

from discorag.ingest.segment.layout import Block, Part
from discorag.schema.hierarchy import UnitKind

_SAYS = frozenset({UnitKind.PROSE, UnitKind.ITEM, UnitKind.TURN})


@dataclass
class Context:
    """Reads the units of a document in order and says of each what stands around it.

    Example:
        >>> from discorag.ingest.segment.context import Context
        >>> from discorag.ingest.segment.layout import Part
        >>> from discorag.schema.hierarchy import UnitKind
        >>> from discorag.schema.span import Span
        >>> context = Context()
        >>> parts = [Part(Span(start=0, end=10), UnitKind.PROSE), Part(Span(start=11, end=17), UnitKind.ITEM)]
        >>> [context.lead(part, part.kind, part.span.start) for part in parts]
        [None, 0]
    """

    _headings: list[tuple[Part, str]] = field(default_factory=list[tuple[Part, str]])
    _under: tuple[str, ...] = ()
    _part: Part | None = None
    _opening: int = 0  # start of the part's first unit
    _said: int | None = None  # ... of the last unit that may introduce another
    _header: int | None = None
    _items: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # (indent, start) of open items
    _list_lead: int | None = None

    def under(self, block: Block) -> tuple[str, ...]:
        """The headings above a block that only layout tells, outermost first; its own is one."""
        first = block.parts[0]
        if block.level:
            self._headings = []
        elif block.heading:
            self._headings = [(p, name) for p, name in self._headings if p.rank < first.rank]
            self._headings.append((first, block.heading))
        else:
            self._headings = [(p, name) for p, name in self._headings if not p.hangs or p.indent < first.indent]
        self._under = tuple(name for _, name in self._headings)
        return self._under

    def lead(self, part: Part, kind: UnitKind, start: int) -> int | None:
        """Start of the unit that introduces the one of ``part`` that starts at ``start``; None if none does."""
        opens = part is not self._part
        if opens:
            self._part, self._opening = part, start
        found = self._lead(part, kind, start, opens=opens)
        if kind in _SAYS:
            self._said = start
        elif kind is not UnitKind.FURNITURE and kind is not UnitKind.CODE:
            self._said = None
        return found

    def _lead(self, part: Part, kind: UnitKind, start: int, *, opens: bool) -> int | None:
        if kind in {UnitKind.HEADER, UnitKind.ROW}:
            self._header = start if kind is UnitKind.HEADER else self._header
            return self._header if kind is UnitKind.ROW else None
        if kind is not UnitKind.FURNITURE:
            self._header = None
        if part.kind is UnitKind.ITEM:
            return self._of_item(part, start, opens=opens)
        if kind is not UnitKind.FURNITURE and kind is not UnitKind.CODE:
            self._items = []
        if part.kind is UnitKind.TURN:
            return None if opens else self._opening
        return self._said if kind is UnitKind.CODE else None

    def _of_item(self, part: Part, start: int, *, opens: bool) -> int | None:
        """Of an item's first sentence the item that it is part of, or the list's lead-in; of others the first."""
        if not opens:
            return self._opening
        if not self._items:
            self._list_lead = self._said
        while self._items and self._items[-1][0] >= part.indent:
            self._items.pop()
        found = self._items[-1][1] if self._items else self._list_lead
        self._items.append((part.indent, start))
        return found
