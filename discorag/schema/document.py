"""Documents: canonical text, the hierarchy of its parts, and the chunks that are embedded and found."""

from bisect import bisect_right
from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, Field, model_validator

from discorag.schema.discourse import RstTree
from discorag.schema.errors import InvariantError
from discorag.schema.metadata import Value, as_words
from discorag.schema.values import PageLine, Region, Span, digest, lines_within, stable_id


class Markup(StrEnum):
    """Which parts of a text are markup: none, its blocks (headings, lists, tables, fences), or also its lines."""

    NONE = "none"
    BLOCKS = "blocks"
    INLINE = "inline"


_UPLOADED = "upload:/"


def uri_of_upload(name: str) -> str:
    """The uri of a document that was uploaded as this file: wherever the server keeps its files, it is the same."""
    return _UPLOADED + name


def uploaded_name(uri: str) -> str:
    """The name of the uploaded file that a document of this uri was read from; empty if it was not uploaded."""
    return uri.removeprefix(_UPLOADED) if uri.startswith(_UPLOADED) else ""


class Scope(BaseModel, frozen=True):
    """A named set of documents of a tenant. Every call to the store carries one; it is also part of every id."""

    tenant: str = Field(default="default", min_length=1)
    corpus: str = Field(default="default", min_length=1)

    def id_of(self, uri: str) -> str:
        """The id of the document at this place, whether or not there is one."""
        return stable_id(self.tenant, self.corpus, uri)

    @property
    def folder(self) -> str:
        """Name of the folder for its files; a safe name, whatever characters tenant and corpus have."""
        return digest(f"{self.tenant}\x00{self.corpus}")[:32]


class Document(BaseModel, frozen=True):
    """One document in canonical form: the converted text of a source, and where it came from.

    Args:
        uri: Where it was read (ingest: the absolute path, or `uri_of_upload`); with the scope, the document's identity.
        title: First heading, else the file's stem.
        text: Canonical text (line feeds only, no Unicode normalisation). Offsets count its characters.
        markup: Which parts of ``text`` are markup. Plain text has none, Markdown all, a converted file blocks.
        metadata: What the user may filter on.
        pages: Where each page of a paged source (PDF) starts in ``text``, ascending from 0; empty for others.
        lines: The lines of its pages with their boxes (PDF), in text order; empty for others.
        unread: How many of each kind of thing the file holds that ``text`` does not: ``{"image": 2, "equation": 1}``.
        file_hash: SHA-256 of the file's bytes; empty if it was not read from a file.
        file_bytes: Their number.
    """

    uri: str
    title: str
    text: str = Field(min_length=1, repr=False)
    markup: Markup = Markup.NONE
    metadata: dict[str, Value] = {}
    pages: tuple[int, ...] = ()
    lines: tuple[PageLine, ...] = Field(default=(), repr=False)
    unread: dict[str, int] = {}
    file_hash: str = ""
    file_bytes: int = 0

    def page_at(self, offset: int) -> int | None:
        """One-based page of the character at ``offset``; None if the source has no pages."""
        return bisect_right(self.pages, offset) or None

    def id_in(self, scope: Scope) -> str:
        """The document's id: the same for the same place in the same scope, whatever its content."""
        return scope.id_of(self.uri)

    @property
    def text_hash(self) -> str:
        """Digest of the canonical text alone: the same for a copy under another name."""
        return digest(self.text)

    @property
    def content_hash(self) -> str:
        """Digest of everything but the place and the bytes of the file: it changes if anything stored would change."""
        parts = [self.text, self.title, *map(str, sorted(self.metadata.items()))]
        parts += [str(part) for part in (self.pages, self.lines, sorted(self.unread.items())) if part]
        return digest("\x00".join(parts))


def name_sources(titles: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """Names for sources by URI: their titles, preceded by the end of the path if one of ``others`` has the same title.

    >>> every = {"/a/v1/weld.md": "Weld", "/a/v2/weld.md": "Weld", "/a/tides.md": "Tides"}
    >>> name_sources({"/a/v1/weld.md": "Weld", "/a/tides.md": "Tides"}, every)
    {'/a/v1/weld.md': 'v1/weld.md: Weld', '/a/tides.md': 'Tides'}
    """
    paths = {title: list[list[str]]() for title in titles.values()}
    for uri, title in others.items():
        if title in paths:
            paths[title].append(uri.split("/"))
    names: dict[str, str] = {}
    for uri, title in titles.items():
        parts = uri.split("/")
        same = [path for path in paths[title] if path != parts]
        depth = next((n for n in range(1, len(parts)) if all(parts[-n:] != path[-n:] for path in same)), 0)
        names[uri] = f"{'/'.join(parts[-depth:])}: {title}" if same else title
    return names


class Kind(StrEnum):
    """Levels of the hierarchy, outermost first."""

    DOCUMENT = "document"
    SECTION = "section"
    PARAGRAPH = "paragraph"
    SENTENCE = "sentence"


class UnitKind(StrEnum):
    """What a sentence is by its layout; it decides how a sentence is read, and whether an answer may use it.

    ``HEADER`` is a table's header row. ``FURNITURE`` says nothing: rules, badges, navigation, page numbers, "Yeah.".
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


class Node(BaseModel, frozen=True):
    """One node of a hierarchy. ``parent`` is an index there, None for the document.

    ``heading`` is the section's own heading, empty for other kinds. ``by_line`` marks a paragraph that is a table or a
    code block. Three fields are for sentences: ``unit`` is the kind of the sentence. ``lead`` is the start of the
    sentence that introduces it (a list's lead-in, a header row, a turn's first sentence). ``under`` are headings around
    it that only the layout shows, since plain text has no sections; outermost first.
    """

    kind: Kind
    span: Span
    parent: int | None
    heading: str = ""
    by_line: bool = False
    unit: UnitKind = UnitKind.PROSE
    lead: int | None = None
    under: tuple[str, ...] = ()


class Hierarchy(BaseModel, frozen=True):
    """All nodes of a document in pre-order; node 0 is the document."""

    nodes: tuple[Node, ...]

    def of_kind(self, kind: Kind) -> tuple[tuple[int, Node], ...]:
        """All nodes of ``kind`` with their indices, in text order."""
        return tuple((i, n) for i, n in enumerate(self.nodes) if n.kind is kind)

    def headings(self, index: int) -> tuple[str, ...]:
        """The headings above node ``index`` and its own, outermost first: of its sections, then those by layout."""
        path: list[str] = list(reversed(self.nodes[index].under))
        at: int | None = index
        while at is not None:
            if self.nodes[at].heading:
                path.append(self.nodes[at].heading)
            at = self.nodes[at].parent
        return tuple(reversed(path))


_AUTHORS = ("author", "authors", "publisher", "by")
_DATES = ("date", "published", "publication_date", "updated", "modified", "created", "year")


class Chunk(BaseModel, frozen=True):
    """A retrievable stretch of a document: whole sentences, at most the encoder's window.

    Args:
        id: UUIDv5 of scope, document, fingerprint and order.
        doc_id: The document it was cut from.
        order: Zero-based position among the document's chunks.
        span: Characters of the document's canonical text.
        text: ``document.text[span.start:span.end]``, stored with the span so that an answer needs no second look-up.
        sentences: Spans of its sentences, or pieces of a sentence longer than the window, in document offsets.
        paragraph_starts: Indices into ``sentences`` at which a new paragraph starts (0 not included).
        title: The document's title.
        kinds: What each of its sentences is by its layout; empty if it is not known.
        leads: For each sentence, the start of the sentence that introduces it: a list's lead-in, the sentence before
            code, a header row, the first sentence of its turn. In document offsets; empty if no sentence has a lead.
        sections: Where other sections start inside it, in document offsets, with their headings.
        headings: Section headings around its first sentence, outermost first.
        page: One-based page on which it starts; None if the source has no pages.
        page_breaks: Where later pages start inside it, in document offsets.
        lines: The lines of the pages that it is on, with their boxes; empty if the source has none.
        markup: Which parts of its text are markup.
        columns: The header row or speaker, if it begins in the middle of a table or turn; else empty.
        tree: Its RST tree in document offsets; None until parsed.
        metadata: The document's metadata, for filters.
        stands_for: For a summary, the characters of the document that it summarises; then ``span``, ``sentences`` and
            ``tree`` are places in its own text. Empty if the text is the document's.
        also_in: Names of other files with the same document; filled in for a question, and not stored.
        uri: Where its document was read; empty if not known. Not part of its JSON.
        source: Its document's name among the sources (`name_sources`); empty if not known. Not part of its JSON.
        unit_vectors: Vectors of its units (`discorag.models.memo.pack_vectors`), so that questions need not encode
            them; empty if not known. Not part of its JSON.
    """

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
    lines: tuple[PageLine, ...] = Field(default=(), repr=False)
    markup: Markup = Markup.NONE
    columns: str = ""
    tree: RstTree | None = None
    metadata: dict[str, Value] = {}
    stands_for: tuple[Span, ...] = ()
    also_in: tuple[str, ...] = ()
    uri: str = Field(default="", exclude=True, repr=False)
    source: str = Field(default="", exclude=True, repr=False)
    unit_vectors: str = Field(default="", exclude=True, repr=False)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.text) != self.span.end - self.span.start:
            raise InvariantError(f"Chunk text has {len(self.text)} characters, its span {self.span} does not.")
        if not self.sentences or not all(self.span.contains(s) for s in self.sentences):
            raise InvariantError("A chunk's sentences lie inside its span.")
        if any(aligned and len(aligned) != len(self.sentences) for aligned in (self.kinds, self.leads)):
            raise InvariantError("A chunk has one kind and one lead for each of its sentences, or none at all.")
        if self.tree is not None and not self.span.contains(self.tree.span):
            raise InvariantError("A chunk's tree lies inside its span.")
        return self

    @property
    def byline(self) -> tuple[str, ...]:
        """Author and date of its document, as far as the metadata have them."""
        metadata = {name.lower(): as_words(value) for name, value in self.metadata.items()}
        found = (next((metadata[name] for name in names if metadata.get(name)), "") for names in (_AUTHORS, _DATES))
        return tuple(filter(None, found))

    def slice(self, span: Span) -> str:
        """The text of a span given in document offsets.

        Raises:
            InvariantError: The span is not inside this chunk.
        """
        if not self.span.contains(span):
            raise InvariantError(f"{span} is not inside chunk {self.order} {self.span}.")
        return self.text[span.start - self.span.start : span.end - self.span.start]

    def headings_at(self, offset: int) -> tuple[str, ...]:
        """Headings around the character at this document offset, outermost first."""
        at = bisect_right(self.sections, offset, key=lambda section: section[0])
        return self.sections[at - 1][1] if at else self.headings

    def page_at(self, offset: int) -> int | None:
        """One-based page of the character at this document offset; None if the source has no pages."""
        return None if self.page is None else self.page + bisect_right(self.page_breaks, offset)

    def regions_at(self, span: Span) -> tuple[Region, ...]:
        """The boxes of the lines that a span, in document offsets, is on; none if the source has no boxes."""
        return tuple(Region.model_validate(line._asdict()) for line in lines_within(self.lines, span))
