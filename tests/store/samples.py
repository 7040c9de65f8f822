"""Small documents with random unit vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discorag.retrieval.builders.base import inner
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split
from discorag.schema.document import Chunk, Document, Scope
from discorag.schema.metadata import Value, read_filters
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors, fingerprint, stable_id
from discorag.store.records import Manifest, SearchQuery
from discorag.store.store import Store

DIMENSION = 8
ENCODER = "test-encoder/1"
SCOPE = Scope(tenant="ann", corpus="papers")
ABSENT = "00000000-0000-0000-0000-000000000000"


def unit(n: int, seed: int) -> Vectors:
    """Random unit vectors, shape (n, DIMENSION)."""
    vectors = np.random.default_rng(seed).standard_normal((n, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@dataclass(frozen=True)
class Sample:
    """One document ready to be put."""

    scope: Scope
    document: Document
    manifest: Manifest
    chunks: list[Chunk]
    vectors: Vectors

    @property
    def doc_id(self) -> str:
        return self.manifest.doc_id

    @property
    def ids(self) -> list[str]:
        return [c.id for c in self.chunks]

    def put_in(self, store: Store) -> None:
        store.put(self.scope, self.document, self.manifest, self.chunks, self.vectors)


def sample(
    uri: str,
    texts: Sequence[str],
    *,
    scope: Scope = SCOPE,
    seed: int = 0,
    title: str | None = None,
    metadata: dict[str, Value] | None = None,
    vectors: Vectors | None = None,
) -> Sample:
    """A document whose chunks are ``texts``, parted by blank lines."""
    document = Document(uri=uri, title=title or f"Title of {uri}", text="\n\n".join(texts), metadata=metadata or {})
    versions = {"encoder": ENCODER}
    key = fingerprint(document.content_hash, versions)
    doc_id = document.id_in(scope)
    chunks: list[Chunk] = []
    start = 0
    for order, text in enumerate(texts):
        chunks.append(_chunk(document, doc_id, key, order, Span(start=start, end=start + len(text))))
        start += len(text) + 2
    manifest = Manifest(
        doc_id=doc_id,
        uri=uri,
        title=document.title,
        content_hash=document.content_hash,
        fingerprint=key,
        versions=versions,
        chunks=len(chunks),
    )
    made = unit(len(chunks), seed) if vectors is None else vectors
    return Sample(scope, document, manifest, chunks, made)


@dataclass(frozen=True)
class TreeSample:
    """One tree ready to be put."""

    scope: Scope
    doc_id: str
    tree: RetrievalTree
    vectors: Vectors
    version: str

    def put_in(self, store: Store) -> None:
        store.put_tree(self.scope, self.doc_id, self.tree, self.vectors, version=self.version)


def tree_of(
    piece: Sample,
    *,
    builder: str = "discourse",
    leaves: int = 1000,
    heading: str = "Top",
    seed: int = 0,
    vectors: Vectors | None = None,
) -> TreeSample:
    """A tree whose leaves are the first chunks; each inner node joins the one before it with the next leaf."""
    nodes = [RetrievalNode(text=c.text, spans=(c.span,)) for c in piece.chunks[:leaves]]
    count = len(nodes)
    for leaf in range(1, count):
        below = (0, 1) if leaf == 1 else (leaf, len(nodes) - 1)
        nodes.append(inner(nodes, below, f"up to {leaf}", heading=heading))
    tree = RetrievalTree(builder=builder, nodes=tuple(nodes))
    made = unit(len(nodes), seed) if vectors is None else vectors
    return TreeSample(piece.scope, piece.doc_id, tree, made, f"{builder}/{seed}")


def _chunk(document: Document, doc_id: str, key: str, order: int, span: Span) -> Chunk:
    return Chunk(
        id=stable_id(doc_id, key, order),
        doc_id=doc_id,
        order=order,
        span=span,
        text=span.of(document.text),
        sentences=(span,),
        title=document.title,
        headings=("One", "二"),
        tree=_tree(span),
        metadata=document.metadata,
        uri=document.uri,
    )


def _tree(span: Span) -> RstTree | None:
    if span.end - span.start < 4:
        return None
    mid = (span.start + span.end) // 2
    split = Split(start=0, mid=1, end=2, relation=Relation.CONTRAST, nuclearity=Nuclearity.NN)
    return RstTree(edus=(Span(start=span.start, end=mid), Span(start=mid, end=span.end)), splits=(split,))


def scores_of(
    store: Store, scope: Scope, builder: str, doc_ids: Sequence[str], vector: Vectors
) -> Mapping[str, Vectors]:
    """`Store.node_scores` of these documents' trees, asked again where one was replaced meanwhile."""
    while True:
        outlines = store.outlines(scope, builder, doc_ids)
        scores = store.node_scores(scope, outlines, vector)
        if scores.keys() == outlines.keys():
            return scores


def tree_in(store: Store, piece: Sample, builder: str = "discourse") -> RetrievalTree:
    """The stored tree of a document."""
    return store.tree_of(piece.scope, store.outlines(piece.scope, builder, [piece.doc_id])[piece.doc_id])


def everything(store: Store, scope: Scope = SCOPE) -> set[str]:
    """Ids of all chunks that a search can find."""
    return {h.chunk_id for h in store.search(scope, SearchQuery(vector=unit(1, 9)[0], top_k=10_000))}


def assert_whole(store: Store, expected: Sample) -> None:
    """The store shows exactly this sample under its id."""
    assert store.manifest(expected.scope, expected.doc_id) == expected.manifest
    assert store.document(expected.scope, expected.doc_id) == expected.document
    assert store.chunks_of(expected.scope, expected.doc_id) == expected.chunks
    assert store.chunks(expected.scope, expected.ids) == expected.chunks
    query = SearchQuery(vector=unit(1, 9)[0], top_k=10_000, filters=read_filters({"doc_id": [expected.doc_id]}))
    assert {h.chunk_id for h in store.search(expected.scope, query)} == set(expected.ids)
