"""The ordered hierarchy of a document: document, section, paragraph, sentence, each with exact offsets."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, model_validator

from discorag.schema.errors import InvariantError
from discorag.schema.span import Span


class Kind(StrEnum):
    """Levels of the hierarchy, outermost first."""

    DOCUMENT = "document"
    SECTION = "section"
    PARAGRAPH = "paragraph"
    SENTENCE = "sentence"


class UnitKind(StrEnum):
    """What a sentence is by its layout: what stands in it, and whether an answer may be made of it.

    ``HEADER`` is a table's header row; ``FURNITURE`` says nothing: rules, badges, navigation, page numbers, "Yeah.".
    """

    PROSE = "prose"
    HEADING = "heading"
    ITEM = "item"
    ROW = "row"
    HEADER = "header"
    CODE = "code"
    TURN = "turn"
    REFERENCE = "reference"
    FORMULA = "formula"
    FURNITURE = "furniture"


class Node(BaseModel):
    """One node of a hierarchy. ``parent`` is its index there (None for the document); the document has depth 0.

    ``heading`` is the section's own heading text, empty for other kinds. ``by_line`` marks a paragraph that is a table
    or a code block. Of a sentence, ``unit`` is its kind, ``lead`` the start of the sentence that introduces it (a
    list's lead-in, a header row, a turn's first sentence), and ``under`` the headings around it that only layout tells
    (plain text has no sections), outermost first.

    Example:
        >>> from discorag.schema.hierarchy import Kind, Node
        >>> from discorag.schema.span import Span
        >>> Node(kind=Kind.SECTION, span=Span(start=0, end=40), depth=1, parent=0, heading="Tides").heading
        'Tides'
    """

    model_config = ConfigDict(frozen=True)

    kind: Kind
    span: Span
    depth: int
    parent: int | None
    heading: str = ""
    by_line: bool = False
    unit: UnitKind = UnitKind.PROSE
    lead: int | None = None
    under: tuple[str, ...] = ()


class Hierarchy(BaseModel):
    """All nodes of a document in pre-order; node 0 is the document.

    Raises:
        InvariantError: A node lies outside its parent, siblings overlap or are out of order, or a depth is wrong
            (pydantic reports it as ``ValidationError``).

    Example:
        >>> from discorag.ingest.segment.headings import build_hierarchy
        >>> from discorag.schema.hierarchy import Kind
        >>> hierarchy = build_hierarchy(document)
        >>> [node.heading for _, node in hierarchy.of_kind(Kind.SECTION)], len(hierarchy.of_kind(Kind.SENTENCE))
        (['Tides', 'Spring tides'], 6)
    """

    model_config = ConfigDict(frozen=True)

    nodes: tuple[Node, ...]

    @model_validator(mode="after")
    def _check(self) -> Hierarchy:
        if not self.nodes or self.nodes[0].parent is not None:
            raise InvariantError("A hierarchy starts with its document node.")
        ends: dict[int, int] = {}  # parent index -> end of its latest child
        for i, node in enumerate(self.nodes[1:], start=1):
            self._check_child(i, node, ends)
        return self

    def _check_child(self, i: int, node: Node, ends: dict[int, int]) -> None:
        if node.parent is None or not 0 <= node.parent < i:
            raise InvariantError(f"Node {i} has no parent before it.")
        parent = self.nodes[node.parent]
        if not parent.span.contains(node.span) or node.depth != parent.depth + 1:
            raise InvariantError(f"Node {i} does not lie inside its parent {node.parent}.")
        if node.span.start < ends.get(node.parent, 0):
            raise InvariantError(f"Node {i} overlaps its elder sibling or comes before it.")
        ends[node.parent] = node.span.end

    def of_kind(self, kind: Kind) -> tuple[tuple[int, Node], ...]:
        """All nodes of ``kind`` with their indices, in text order."""
        return tuple((i, n) for i, n in enumerate(self.nodes) if n.kind is kind)

    def headings(self, index: int) -> tuple[str, ...]:
        """Headings around node ``index``, outermost first, its own included: of its sections, then those by layout."""
        path: list[str] = list(reversed(self.nodes[index].under))
        at: int | None = index
        while at is not None:
            if self.nodes[at].heading:
                path.append(self.nodes[at].heading)
            at = self.nodes[at].parent
        return tuple(reversed(path))
