"""The hierarchy that a document's own headings and paragraphs give it."""

from __future__ import annotations

from dataclasses import dataclass, field

from discorag.text.sentences import line_spans, sentence_spans
from discorag.text.structure import Block, blocks
from discorag.types.document import Document
from discorag.types.hierarchy import Hierarchy, Kind, Node
from discorag.types.span import Span


def build_hierarchy(document: Document) -> Hierarchy:
    """Document > section > paragraph > sentence.

    A section runs from its heading to the next heading of the same or a higher rank; text before the first heading
    belongs to the document. The heading is the section's first paragraph and one sentence. Lines of code and table
    rows are sentences. Every character that is not white space lies in exactly one sentence.

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


def is_heading(hierarchy: Hierarchy, index: int) -> bool:
    """Whether the sentence at ``index`` is its section's heading."""
    node = hierarchy.nodes[index]
    paragraph = hierarchy.nodes[node.parent or 0]
    section = hierarchy.nodes[paragraph.parent or 0]
    return section.kind is Kind.SECTION and section.span.start == node.span.start


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

    def open_section(self, block: Block, end: int) -> None:
        while self.sections and self.sections[-1][0] >= block.level:
            self.sections.pop()
        index = self._add(Kind.SECTION, Span(start=block.span.start, end=end), self._parent(), block.heading)
        self.sections.append((block.level, index))

    def add_paragraph(self, block: Block, text: str) -> None:
        paragraph = self._add(Kind.PARAGRAPH, block.span, self._parent(), by_line=block.by_line)
        for span in _sentences(block, text):
            self._add(Kind.SENTENCE, span, paragraph)

    def _parent(self) -> int:
        return self.sections[-1][1] if self.sections else 0

    def _add(self, kind: Kind, span: Span, parent: int, heading: str = "", *, by_line: bool = False) -> int:
        depth = self.nodes[parent].depth + 1
        node = Node(kind=kind, span=span, depth=depth, parent=parent, heading=heading, by_line=by_line)
        self.nodes.append(node)
        return len(self.nodes) - 1


def _sentences(block: Block, text: str) -> tuple[Span, ...]:
    if block.level:
        return (block.span,)
    split = line_spans if block.by_line else sentence_spans
    return split(block.span.of(text), offset=block.span.start)
