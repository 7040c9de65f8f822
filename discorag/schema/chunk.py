"""A chunk: what is embedded, found and shown, with the places of its sentences and its RST tree."""

from __future__ import annotations

from bisect import bisect_right

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discorag.schema.document import Markup
from discorag.schema.errors import InvariantError
from discorag.schema.hierarchy import UnitKind
from discorag.schema.notebook import Drawn
from discorag.schema.rst_tree import RstTree
from discorag.schema.span import Span


class Chunk(Drawn, BaseModel):
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
        kinds: What each of its sentences is by its layout; empty in what earlier versions stored.
        leads: Of each sentence the start of the one that introduces it (a list's lead-in, the sentence before code, a
            header row, the first sentence of its turn), in document offsets; empty where none has one.
        sections: Where inside it another section starts, in document offsets, with that section's headings.
        headings: Section headings around its first sentence, outermost first.
        page: One-based page on which it starts; None where the source has no pages.
        page_breaks: Where later pages start inside it, in document offsets.
        markup: What of its text is markup.
        columns: Header row of the table, or speaker of the turn, that it begins in the middle of; else empty.
        tree: Its RST tree in document offsets; None until parsed.
        metadata: The document's metadata, for filters.
        stands_for: Of a summary the characters of the document that it is a summary of; ``span``, ``sentences`` and
            ``tree`` then are places in its own text. Empty where the text is the document's.
        also_in: Names of other files with the same document; known of what a question found, and not stored.
        unit_vectors: Vectors of its units (`discorag.models.memo.packed`), so that no question encodes them again;
            empty if they are not known. Not part of its JSON.

    Example:
        >>> chunk.headings, len(chunk.sentences)
        (('Tides',), 6)
        >>> chunk.slice(chunk.sentences[1])
        'The moon pulls the sea.'
        >>> document.text[chunk.span.start : chunk.span.end] == chunk.text
        True
    """

    model_config = ConfigDict(frozen=True)

    id: str
    doc_id: str
    order: int
    span: Span
    text: str
    sentences: tuple[Span, ...]
    paragraph_starts: tuple[int, ...] = ()
    kinds: tuple[UnitKind, ...] = ()
    leads: tuple[int | None, ...] = ()
    sections: tuple[tuple[int, tuple[str, ...]], ...] = ()
    title: str = ""
    headings: tuple[str, ...] = ()
    page: int | None = None
    page_breaks: tuple[int, ...] = ()
    markup: Markup = Markup.NONE
    columns: str = ""
    tree: RstTree | None = None
    metadata: dict[str, str] = {}
    stands_for: tuple[Span, ...] = ()
    also_in: tuple[str, ...] = ()
    unit_vectors: str = Field(default="", exclude=True, repr=False)

    @model_validator(mode="after")
    def _check(self) -> Chunk:
        if len(self.text) != self.span.end - self.span.start:
            raise InvariantError(f"Chunk text has {len(self.text)} characters, its span {self.span} does not.")
        if not self.sentences or not all(self.span.contains(s) for s in self.sentences):
            raise InvariantError("A chunk's sentences lie inside its span.")
        if any(aligned and len(aligned) != len(self.sentences) for aligned in (self.kinds, self.leads)):
            raise InvariantError("A chunk has one kind and one lead for each of its sentences, or none at all.")
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

    def headings_at(self, offset: int) -> tuple[str, ...]:
        """Headings around the character at a document offset inside it, outermost first."""
        at = bisect_right(self.sections, offset, key=lambda section: section[0])
        return self.sections[at - 1][1] if at else self.headings

    def page_at(self, offset: int) -> int | None:
        """One-based page of the character at a document offset inside it; None where the source has no pages."""
        return None if self.page is None else self.page + bisect_right(self.page_breaks, offset)
