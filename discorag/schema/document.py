"""A document as read: its canonical text, to which every offset in the system refers."""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from discorag.schema.ids import digest, stable_id


class Markup(StrEnum):
    """What of a document's text is markup: nothing, its blocks (headings, lists, tables, fences), or also its lines."""

    NONE = "none"
    BLOCKS = "blocks"
    INLINE = "inline"


class Scope(BaseModel):
    """Whose data: every call to the store carries one. Also part of every id.

    Args:
        tenant: Owner; documents of one tenant never appear to another.
        corpus: A named set of documents of that tenant.

    Example:
        >>> from discorag.schema.document import Scope
        >>> Scope(tenant="ann", corpus="papers")
        Scope(tenant='ann', corpus='papers')
    """

    model_config = ConfigDict(frozen=True)

    tenant: str = Field(default="default", min_length=1)
    corpus: str = Field(default="default", min_length=1)

    def id_of(self, uri: str) -> str:
        """The id of the document at this place, whether or not there is one."""
        return stable_id(self.tenant, self.corpus, uri)

    @property
    def folder(self) -> str:
        """Name of the folder that keeps what belongs to it: whatever the two names hold, a name without folders."""
        return digest(f"{self.tenant}\x00{self.corpus}")[:32]


class Document(BaseModel):
    """One document in canonical form: what the converter made of the source, and where it came from.

    Args:
        uri: Where it was read (ingest: the absolute path); with the scope, the document's identity.
        title: First heading, else the file's stem.
        text: Canonical text (line feeds only, no Unicode normalisation). Offsets count its characters.
        media_type: ``text/plain`` or ``text/markdown``: what ``text`` is, whatever the file was.
        is_converted: Whether the file was of another format: its blocks are Markdown then, its lines are its own words.
        metadata: What the user may filter on.
        pages: Where each page of a paged source (PDF) starts in ``text``, ascending from 0; empty for others.

    Example:
        >>> from discorag.schema.document import Document, Scope
        >>> document = Document(uri="tides.md", title="Tides", text="Tides rise. They fall.", pages=(0, 12))
        >>> document.page_at(14), document.id_in(Scope()) == document.id_in(Scope(tenant="ann"))
        (2, False)
    """

    model_config = ConfigDict(frozen=True)

    uri: str
    title: str
    text: str = Field(min_length=1, repr=False)
    media_type: str = "text/plain"
    is_converted: bool = False
    metadata: dict[str, str] = {}
    pages: tuple[int, ...] = ()

    @property
    def markup(self) -> Markup:
        """What of its text is markup."""
        if self.media_type != "text/markdown":
            return Markup.NONE
        return Markup.BLOCKS if self.is_converted else Markup.INLINE

    def page_at(self, offset: int) -> int | None:
        """One-based page of the character at ``offset``; None where the source has no pages."""
        return bisect_right(self.pages, offset) or None

    def id_in(self, scope: Scope) -> str:
        """The document's id: the same for the same place in the same scope, whatever its content."""
        return scope.id_of(self.uri)

    @property
    def text_hash(self) -> str:
        """Digest of the canonical text alone: that of a copy under another name."""
        return digest(self.text)

    @property
    def content_hash(self) -> str:
        """Digest of the canonical text, title, metadata and pages: changes when anything stored would change."""
        parts = [self.text, self.title, *map(str, sorted(self.metadata.items()))]
        return digest("\x00".join([*parts, str(self.pages)] if self.pages else parts))
