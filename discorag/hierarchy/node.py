"""The ordered hierarchy of a document: document, section, paragraph, sentence, each with exact offsets."""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, model_validator

from discorag.errors import InvariantError
from discorag.rst.tree import RstTree
from discorag.text.span import Span


class Kind(StrEnum):
    """Levels of the hierarchy, outermost first."""

    DOCUMENT = "document"
    SECTION = "section"
    PARAGRAPH = "paragraph"
    SENTENCE = "sentence"


class Node(BaseModel):
    """One node of a hierarchy. ``parent`` is its index there (None for the document); the document has depth 0.

    ``heading`` is the section's own heading text, empty for other kinds. ``by_line`` marks a paragraph that is a table
    or a code block: its sentences are rows or lines.
    """

    model_config = ConfigDict(frozen=True)

    kind: Kind
    span: Span
    depth: int
    parent: int | None
    heading: str = ""
    by_line: bool = False


class Hierarchy(BaseModel):
    """All nodes of a document in pre-order; node 0 is the document.

    Raises:
        InvariantError: A node lies outside its parent, siblings overlap or are out of order, or a depth is wrong
            (pydantic reports it as ``ValidationError``).
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
        """Headings of the sections around node ``index``, outermost first (the node itself included)."""
        path: list[str] = []
        at: int | None = index
        while at is not None:
            if self.nodes[at].heading:
                path.append(self.nodes[at].heading)
            at = self.nodes[at].parent
        return tuple(reversed(path))


class Chunk(BaseModel):
    """A retrievable stretch of a document: whole sentences, at most the encoder's window.

    Args:
        id: UUIDv5 of scope, document, fingerprint and order.
        doc_id: The document it was cut from.
        order: Zero-based position among the document's chunks.
        span: Characters of the document's canonical text.
        text: ``document.text[span.start:span.end]``, stored beside the span so that an answer needs no second look-up.
        sentences: Spans of its sentences (or, of a sentence longer than the window, its pieces), in document offsets.
        paragraph_starts: Indices into ``sentences`` at which a new paragraph starts (0 not included).
        title: The document's title.
        headings: Section headings around its first sentence, outermost first.
        page: One-based page on which it starts; None where the source has no pages.
        page_breaks: Where later pages start inside it, in document offsets.
        columns: Header row of the table that it begins in the middle of; empty for other chunks.
        tree: Its RST tree in document offsets; None until parsed.
        metadata: The document's metadata, for filters.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    doc_id: str
    order: int
    span: Span
    text: str
    sentences: tuple[Span, ...]
    paragraph_starts: tuple[int, ...] = ()
    title: str = ""
    headings: tuple[str, ...] = ()
    page: int | None = None
    page_breaks: tuple[int, ...] = ()
    columns: str = ""
    tree: RstTree | None = None
    metadata: dict[str, str] = {}

    @model_validator(mode="after")
    def _check(self) -> Chunk:
        if len(self.text) != self.span.end - self.span.start:
            raise InvariantError(f"Chunk text has {len(self.text)} characters, its span {self.span} does not.")
        if not self.sentences or not all(self.span.contains(s) for s in self.sentences):
            raise InvariantError("A chunk's sentences lie inside its span.")
        if self.tree is not None and not self.span.contains(self.tree.span):
            raise InvariantError("A chunk's tree lies inside its span.")
        return self

    def slice(self, span: Span) -> str:
        """The text of a span given in document offsets.

        Raises:
            InvariantError: The span is not inside this chunk.
        """
        if not self.span.contains(span):
            raise InvariantError(f"{span} is not inside chunk {self.order} {self.span}.")
        return self.text[span.start - self.span.start : span.end - self.span.start]

    def page_at(self, offset: int) -> int | None:
        """One-based page of the character at a document offset inside it; None where the source has no pages."""
        return None if self.page is None else self.page + bisect_right(self.page_breaks, offset)
