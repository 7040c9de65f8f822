"""Documents, chunks and nodes of retrieval trees as points (DESIGN: Qdrant schema), and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from pydantic import TypeAdapter
from pydantic_core import from_json

from discorag.store.protocol import Manifest, SearchQuery
from discorag.store.shard import CHUNKS, NODES, Payload, Point, Space, Where
from discorag.text.sentences import sentence_spans
from discorag.text.terms import sparse
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.errors import InputError, InvariantError, NotFoundError
from discorag.types.span import Span
from discorag.types.vectors import Vectors, unit

TREE = "flat_chunk"
CHUNK_FIELDS = ("order", "text", "chunk")
ENTRY_FIELDS = ("manifest", "trees", "content")
SUMMARY = "Summary"
"""What a reader sees as the last heading of a summary."""
LAYOUT = 2
"""Of trees: from 2 on the first node has the tree's outline."""


@dataclass(frozen=True)
class TreePart:
    """A stored tree of a document.

    Args:
        key: ``version`` in the payload of its nodes; equal for equal trees with equal vectors of one document.
        version: What its builder said.
        nodes: Number of nodes.
        layout: Which payloads its nodes have; a tree of another than `LAYOUT` is as good as not stored.
        content: Checksum of its points; empty for what earlier versions wrote.

    Example:
        >>> from discorag.store.payload import TreePart
        >>> TreePart(key="k", version="headings-1", nodes=3).layout
        1
    """

    key: str
    version: str
    nodes: int
    layout: int = 1
    content: str = ""


_TREES = TypeAdapter(dict[str, TreePart])


@dataclass(frozen=True)
class Entry:
    """What is live of a document: its manifest, its trees by builder, and the checksum of its chunks' points.

    Example:
        >>> from discorag.store.payload import Entry, TreePart
        >>> from discorag.store.shard import NODES
        >>> entry = Entry(sample_of("tides.md", ["Tides rise."]).manifest, {"headings": TreePart("k", "headings-1", 3)})
        >>> entry.versions[NODES]
        {'k'}
    """

    manifest: Manifest
    trees: Mapping[str, TreePart] = field(default_factory=dict[str, TreePart])
    content: str = ""

    @property
    def versions(self) -> dict[Space, set[str]]:
        """The ``version`` in the payload of live chunks and nodes."""
        return {CHUNKS: {version_of(self.manifest)}, NODES: {part.key for part in self.trees.values()}}

    @property
    def keys(self) -> tuple[str, ...]:
        """All of `versions`."""
        return tuple(key for keys in self.versions.values() for key in keys)

    @property
    def trees_json(self) -> str:
        """The field ``trees`` of the document's point."""
        return _TREES.dump_json(dict(self.trees)).decode()

    @property
    def has_checksums(self) -> bool:
        """Whether all of its points can be compared."""
        return bool(self.content) and all(part.content for part in self.trees.values())

    @property
    def payload(self) -> dict[str, str]:
        """The fields of the document's point that change with its trees."""
        return {"trees": self.trees_json, "content": self.content}


def entry_from(payload: Payload) -> Entry:
    """The entry as it was stored; needs `ENTRY_FIELDS`."""
    manifest = Manifest.model_validate_json(payload["manifest"])
    return Entry(manifest, trees_from(payload), payload.get("content") or "")


def document_from(payload: Payload) -> Document:
    """The canonical document, from its point's payload."""
    return Document.model_validate_json(payload["document"])


def trees_from(payload: Payload) -> Mapping[str, TreePart]:
    """The trees of a document, from its payload's ``trees``, which documents without trees may lack."""
    return _TREES.validate_json(payload.get("trees", "{}"))


def check_query(query: SearchQuery, limit: int, dimension: int) -> None:
    """Whether this can be searched for.

    Raises:
        InputError: ``limit`` is below 1.
        InvariantError: The query vector has not shape (d,).
    """
    if limit < 1:
        raise InputError(f"top_k is {limit}.", hint="Ask for at least 1.")
    check_vector(query.vector, dimension)


def check_vector(vector: Vectors, dimension: int) -> None:
    """Raises `InvariantError` for a query vector that has not shape (d,)."""
    if vector.shape != (dimension,):
        raise InvariantError(f"The query vector has shape {vector.shape}, expected {(dimension,)}.")


def check_vectors(vectors: Vectors, count: int, dimension: int, uri: str) -> None:
    """Raises `InvariantError` unless these are unit vectors of shape (count, d)."""
    if vectors.shape != (count, dimension):
        raise InvariantError(f"Vectors have shape {vectors.shape}, expected {(count, dimension)}.")
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise InvariantError(f"Not every vector of {uri!r} has length 1.", hint="Normalise them.")


def check(
    scope: Scope, document: Document, manifest: Manifest, chunks: Sequence[Chunk], vectors: Vectors, dimension: int
) -> None:
    """Whether these belong together.

    Raises:
        InvariantError: There is no chunk; ids, counts or texts disagree; or the vectors are not unit vectors of shape
            (len(chunks), dimension).
    """
    if not chunks:
        raise InvariantError(f"Document {document.uri!r} has no chunks.", hint="Store documents that hold text.")
    check_vectors(vectors, len(chunks), dimension, document.uri)
    if {document.id_in(scope)} != {manifest.doc_id, *(c.doc_id for c in chunks)}:
        raise InvariantError(f"Manifest or chunks of {document.uri!r} carry another document's id.")
    if not manifest.chunks == len({c.id for c in chunks}) == len(chunks):
        raise InvariantError(f"The manifest of {document.uri!r} counts {manifest.chunks} chunks, not {len(chunks)}.")
    for c in chunks:
        if c.span.of(document.text) != c.text:
            raise InvariantError(f"Chunk {c.order} of {document.uri!r} is not the text at {c.span}.")


def version_of(manifest: Manifest) -> str:
    """Key of one state of one document: equal fingerprints of two documents do not collide."""
    return f"{manifest.doc_id}:{manifest.fingerprint}"


def document_of(version: str) -> str:
    """The document that `version_of` was told about."""
    return version.rpartition(":")[0]


def of_scope(scope: Scope) -> Where:
    """Everything of one tenant's corpus."""
    return Where((("tenant", (scope.tenant,)), ("corpus", (scope.corpus,))))


def of_document(scope: Scope, doc_id: str) -> Where:
    """Everything of one document."""
    return of_scope(scope).also(("doc_id", (doc_id,)))


def metadata_filters(filters: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A user's filters as conditions on the payload."""
    for key, values in filters.items():
        if key == "doc_id":
            yield "doc_id", tuple(values)
        else:
            yield "meta", tuple(_pair(key, value) for value in values)


def document_point(scope: Scope, document: Document, entry: Entry, vectors: Vectors) -> Point:
    """The point of a document: the direction of its mean chunk vector, its entry, its canonical form."""
    mean, manifest = vectors.mean(axis=0), entry.manifest
    payload = {
        **common(scope, manifest),
        "uri": document.uri,
        "title": document.title,
        "meta": pairs(document.metadata),
        "manifest": manifest.model_dump_json(),
        **entry.payload,
        "document": document.model_dump_json(),
    }
    return Point(manifest.doc_id, mean / max(float(np.linalg.norm(mean)), 1e-12), payload)


def chunk_point(scope: Scope, manifest: Manifest, chunk: Chunk, vector: Vectors) -> Point:
    """The point of a chunk. Its text is a field of its own and left out of its JSON."""
    payload = {
        **common(scope, manifest),
        "tree": TREE,
        "kind": "chunk",
        "order": chunk.order,
        "depth": 1,
        "start": chunk.span.start,
        "end": chunk.span.end,
        "text": chunk.text,
        "meta": pairs(chunk.metadata),
        "chunk": chunk.model_dump_json(exclude={"text", "stands_for", "also_in"}),
        **({"units": chunk.unit_vectors} if chunk.unit_vectors else {}),
    }
    terms = sparse("\n".join(filter(None, (chunk.title, *chunk.headings, chunk.columns, chunk.text))))
    return Point(chunk.id, unit(vector), payload, terms)


def chunk_from(payload: Payload) -> Chunk:
    """The chunk as it was stored, without its units' vectors if only `CHUNK_FIELDS` were read."""
    units = payload.get("units") or ""
    return Chunk.model_validate({**from_json(payload["chunk"]), "text": payload["text"], "unit_vectors": units})


def place_of(payload: Payload) -> tuple[str, Span]:
    """A chunk's id and characters, without the rest of it; needs `CHUNK_FIELDS`."""
    chunk = from_json(payload["chunk"])
    return chunk["id"], Span.model_construct(**chunk["span"])


def node_from(node_id: str, payload: Payload, title: str) -> Chunk:
    """A node of a retrieval tree as a passage of its own: an inner node's text is a summary of what lies below it."""
    text, node = payload["text"], from_json(payload["node"])
    return Chunk(
        id=node_id,
        doc_id=payload["doc_id"],
        order=payload["order"],
        span=Span(start=0, end=len(text)),
        text=text,
        sentences=sentence_spans(text),
        title=title,
        headings=tuple(filter(None, (node["heading"], SUMMARY))),
        stands_for=tuple(Span(**span) for span in node["spans"]),
    )


def common(scope: Scope, manifest: Manifest) -> dict[str, object]:
    """What the points of a document, of its chunks and of its nodes have in common."""
    return {
        "tenant": scope.tenant,
        "corpus": scope.corpus,
        "doc_id": manifest.doc_id,
        "fingerprint": manifest.fingerprint,
        "version": version_of(manifest),
    }


def pairs(metadata: Mapping[str, str]) -> list[str]:
    """All metadata in one indexed field: a field per key would need an index per key and break on odd keys."""
    return [_pair(key, value) for key, value in metadata.items()]


def _pair(key: str, value: str) -> str:
    return json.dumps([key, value], ensure_ascii=False)


STALE = "It may have been deleted or replaced: search again."


def no_document(scope: Scope, doc_id: str) -> NotFoundError:
    """What is raised where a document is missing."""
    return NotFoundError(f"There is no document {doc_id!r} in {named(scope)}.", hint=STALE)


def named(scope: Scope) -> str:
    """A scope in a message."""
    return f"tenant {scope.tenant!r}, corpus {scope.corpus!r}"


def is_uuid(text: str) -> bool:
    """Whether it can be the id of a point."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
