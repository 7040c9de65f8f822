"""The hierarchy of a document: its headings, and what stands around every unit by layout."""

from dataclasses import dataclass, field
from typing import Any

from discorag.ingest.segment.blocks import blocks
from discorag.ingest.segment.layout import Block, Part, sentences_of
from discorag.schema.document import Document, Hierarchy, Kind, Node, UnitKind
from discorag.schema.errors import DocumentTooLargeError
from discorag.schema.values import Span

_SAYS = frozenset({UnitKind.PROSE, UnitKind.ITEM, UnitKind.TURN})


@dataclass
class Context:
    """Reads the units of a document in order and says of each what stands around it."""

    _headings: list[tuple[Part, str]] = field(default_factory=list[tuple[Part, str]])
    _part: Part | None = None
    _opening: int = 0  # start of the part's first unit
    _introduction: int | None = None  # ... of the last unit that may introduce another
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
        return tuple(name for _, name in self._headings)

    def lead(self, part: Part, kind: UnitKind, start: int) -> int | None:
        """Start of the unit that introduces the unit of ``part`` at ``start``; None if none does."""
        opens = part is not self._part
        if opens:
            self._part, self._opening = part, start
        found = self._lead(part, kind, start, opens=opens)
        if kind in _SAYS:
            self._introduction = start
        elif kind is not UnitKind.FURNITURE and kind is not UnitKind.CODE:
            self._introduction = None
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
        return self._introduction if kind is UnitKind.CODE else None

    def _of_item(self, part: Part, start: int, *, opens: bool) -> int | None:
        """Of an item's first sentence the item that it is part of, or the list's lead-in; of others the first."""
        if not opens:
            return self._opening
        if not self._items:
            self._list_lead = self._introduction
        while self._items and self._items[-1][0] >= part.indent:
            self._items.pop()
        found = self._items[-1][1] if self._items else self._list_lead
        self._items.append((part.indent, start))
        return found


def build_hierarchy(document: Document, most: int | None = None) -> Hierarchy:
    """Document > section > paragraph > sentence.

    A section runs from its heading to the next heading of the same or a higher rank; text before the first heading
    belongs to the document. The heading is the section's first paragraph and one sentence. Table rows and blocks of
    code are sentences; no sentence crosses a border of the layout. Every character that is not white space lies in
    exactly one sentence.

    Raises:
        DocumentTooLargeError: There are more than ``most`` sentences.

    Source: RDR² section 3.1, the document structure tree of headings and passages.
    """
    parts = blocks(document)
    ends = _section_ends(parts)
    tree = _Builder([Node(kind=Kind.DOCUMENT, span=Span(start=0, end=len(document.text)), parent=None)])
    for i, block in enumerate(parts):
        if block.level:
            tree.open_section(block, ends[i])
        tree.add_paragraph(block, document.text)
        if most is not None and tree.sentences > most:
            raise DocumentTooLargeError(
                f"{document.uri} has more than {most:,} sentences.",
                hint="Split the file, or raise DISCO_RAG_READING__MAX_SENTENCES.",
            )
    return Hierarchy(nodes=tuple(tree.nodes))


def _section_ends(parts: list[Block]) -> dict[int, int]:
    """Index of each heading among the blocks -> where its section ends."""
    ends: dict[int, int] = {}
    open_headings: list[int] = []
    for i, block in enumerate(parts):
        while block.level and open_headings and parts[open_headings[-1]].level >= block.level:
            ends[open_headings.pop()] = parts[i - 1].span.end
        if block.level:
            open_headings.append(i)
    return ends | {i: parts[-1].span.end for i in open_headings}


@dataclass
class _Builder:
    nodes: list[Node]
    sections: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # (heading level, node index)
    context: Context = field(default_factory=Context)
    sentences: int = 0

    def open_section(self, block: Block, end: int) -> None:
        while self.sections and self.sections[-1][0] >= block.level:
            self.sections.pop()
        index = self._add(Kind.SECTION, Span(start=block.span.start, end=end), self._parent(), heading=block.heading)
        self.sections.append((block.level, index))

    def add_paragraph(self, block: Block, text: str) -> None:
        paragraph = self._add(Kind.PARAGRAPH, block.span, self._parent(), by_line=block.by_line)
        under = self.context.under(block)
        for part in block.parts:
            for span, unit in sentences_of(part, text):
                lead = self.context.lead(part, unit, span.start)
                self._add(Kind.SENTENCE, span, paragraph, unit=unit, lead=lead, under=under)
                self.sentences += 1

    def _parent(self) -> int:
        return self.sections[-1][1] if self.sections else 0

    def _add(self, kind: Kind, span: Span, parent: int, **rest: Any) -> int:
        self.nodes.append(Node(kind=kind, span=span, parent=parent, **rest))
        return len(self.nodes) - 1
