"""The hierarchy of a document: its headings, and what stands around every unit by layout."""

import re
from dataclasses import dataclass, field
from typing import Any

from discorag.ingest.segment.blocks import blocks
from discorag.ingest.segment.layout import NOTE, Block, Part, sentences_of
from discorag.schema.document import Document, Hierarchy, Kind, Markup, Node, UnitKind
from discorag.schema.errors import InputError
from discorag.schema.values import Span

_NOTED = re.compile(r"\[\^([^\[\]\s]+)\]")
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
        self._header = None
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
        """What introduces an item's sentence: the item's first one; for that one, the outer item or the lead-in."""
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
        InputError: There are more than ``most`` sentences.

    Source: RDR² section 3.1, the document structure tree of headings and passages.
    """
    tree = _Builder([Node(kind=Kind.DOCUMENT, span=Span(start=0, end=len(document.text)), parent=None)])
    for block in blocks(document):
        tree.add(block, document.text, document.markup)
        if most is not None and tree.sentences > most:
            raise InputError(
                f"{document.uri} has more than {most:,} sentences.",
                hint="Split the file, or raise DISCO_RAG_READING__MAX_SENTENCES.",
            )
    tree.close_sections(1)
    return Hierarchy(nodes=tuple(tree.nodes))


@dataclass
class _Builder:
    nodes: list[Node]
    sections: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])  # (heading level, node index)
    context: Context = field(default_factory=Context)
    references: dict[str, list[int]] = field(default_factory=dict[str, list[int]])  # to notes: where, by their label
    sentences: int = 0
    end: int = 0  # of the last block

    def add(self, block: Block, text: str, markup: Markup) -> None:
        """Add a block with its sentences; a heading of Markdown opens a section."""
        if block.level:
            self.close_sections(block.level)
            self.sections.append((block.level, self._add(Kind.SECTION, block.span, heading=block.heading)))
        paragraph = self._add(Kind.PARAGRAPH, block.span, by_line=block.by_line)
        under = self.context.under(block)
        for part in block.parts:
            for span, unit in sentences_of(part, text, markup):
                lead = self.context.lead(part, unit, span.start)
                if note := NOTE.match(text, span.start):
                    lead = self._reference(note[1])
                else:
                    for label in _NOTED.findall(text, span.start, span.end):
                        self.references.setdefault(label, []).append(span.start)
                self._add(Kind.SENTENCE, span, parent=paragraph, unit=unit, lead=lead, under=under)
                self.sentences += 1
        self.end = block.span.end

    def _reference(self, label: str) -> int | None:
        """Start of the one sentence that refers to a note; None if others since the last note of that name do too."""
        starts = self.references.pop(label, [])
        return starts[0] if len(starts) == 1 else None

    def close_sections(self, level: int) -> None:
        """End the open sections of this level, and those below them, with the last block."""
        while self.sections and self.sections[-1][0] >= level:
            _, index = self.sections.pop()
            whole = Span(start=self.nodes[index].span.start, end=self.end)
            self.nodes[index] = self.nodes[index].model_copy(update={"span": whole})

    def _add(self, kind: Kind, span: Span, **rest: Any) -> int:
        """Add a node to the innermost open section, unless ``rest`` names its parent; return its index."""
        parent = self.sections[-1][1] if self.sections else 0
        self.nodes.append(Node.model_validate({"kind": kind, "span": span, "parent": parent, **rest}))
        return len(self.nodes) - 1
