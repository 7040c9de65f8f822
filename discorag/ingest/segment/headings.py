"""The hierarchy that a document's own headings and paragraphs give it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discorag.ingest.segment.context import Context
from discorag.ingest.segment.layout import Block, sentences_of
from discorag.ingest.segment.structure import blocks
from discorag.schema.document import Document
from discorag.schema.errors import DocumentTooLargeError
from discorag.schema.hierarchy import Hierarchy, Kind, Node, UnitKind
from discorag.schema.span import Span


def build_hierarchy(document: Document) -> Hierarchy:
    """Document > section > paragraph > sentence.

    A section runs from its heading to the next heading of the same or a higher rank; text before the first heading
    belongs to the document. The heading is the section's first paragraph and one sentence. Table rows and blocks of
    code are sentences; none goes across a border of the layout. Every character that is not white space lies in
    exactly one sentence.

    Source: RDR² section 3.1, the document structure tree of headings and passages.
    """
    parts = blocks(document)
    ends = _section_ends(parts)
    tree = _Builder([Node(kind=Kind.DOCUMENT, span=Span(start=0, end=len(document.text)), depth=0, parent=None)])
    for i, block in enumerate(parts):
        if block.level:
            tree.open_section(block, ends[i])
        tree.add_paragraph(block, document.text)
    return Hierarchy(nodes=tuple(tree.nodes))


def check_length(uri: str, hierarchy: Hierarchy, most: int) -> None:
    """Raises `DocumentTooLargeError` for more than ``most`` sentences; ``uri`` is for the message."""
    found = len(hierarchy.of_kind(Kind.SENTENCE))
    if found > most:
        raise DocumentTooLargeError(
            f"{uri} has {found:,} sentences; the limit is {most:,}.",
            hint="Split the file, or raise DISCO_RAG_READING__MAX_SENTENCES.",
        )


def is_heading(hierarchy: Hierarchy, index: int) -> bool:
    """Whether the sentence at ``index`` is a section's heading, or one by layout."""
    node = hierarchy.nodes[index]
    paragraph = hierarchy.nodes[node.parent or 0]
    section = hierarchy.nodes[paragraph.parent or 0]
    by_layout = node.unit is UnitKind.HEADING
    return by_layout or (section.kind is Kind.SECTION and section.span.start == node.span.start)


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

    def _parent(self) -> int:
        return self.sections[-1][1] if self.sections else 0

    def _add(self, kind: Kind, span: Span, parent: int, **rest: Any) -> int:
        depth = self.nodes[parent].depth + 1
        self.nodes.append(Node(kind=kind, span=span, depth=depth, parent=parent, **rest))
        return len(self.nodes) - 1
