"""Retrieval trees of stored documents: their nodes lie beside the chunks, in a space of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from discorag.errors import InvariantError, NotFoundError, StoreError
from discorag.hierarchy.retrieval_tree import RetrievalTree
from discorag.ids import digest, stable_id
from discorag.store import payload as points
from discorag.store.catalogue import Catalogue
from discorag.store.payload import Entry, TreePart
from discorag.store.protocol import Hit, NodeHit, SearchQuery, Vectors
from discorag.store.ranking import best
from discorag.store.shard import BUILDER, NODES, Payload, Point, Shard, Where, write
from discorag.text.document import Document, Scope
from discorag.text.terms import sparse

ATTEMPTS = 10
"""How often nodes are looked for whose tree is being replaced meanwhile."""
CACHED = 512
"""Trees kept in memory, decoded."""
_NODE_FIELDS = ("order", "text", "node")


class Trees:
    """The trees in the shard of the chunks.

    A node is visible if its tree is named by the live entry of its document. Equal trees have equal keys, and a key
    never comes to mean another tree. One call writes at a time.

    Args:
        nodes: Shard of the chunks and nodes.
        catalogue: What is live.
        dimension: Length d of a vector.
    """

    def __init__(self, nodes: Shard, catalogue: Catalogue, dimension: int) -> None:
        self._nodes = nodes
        self._catalogue = catalogue
        self._lock = catalogue.lock
        self._dimension = dimension
        self._decoded: dict[str, RetrievalTree] = {}
        self._decoding = Lock()

    def put(
        self, scope: Scope, entry: Entry, document: Document, tree: RetrievalTree, vectors: Vectors, version: str
    ) -> None:
        """See `Store.put_tree`; ``entry`` and ``document`` are what is stored.

        Raises:
            InvariantError: See `_check`; the store is unchanged.
        """
        _check(document, tree, vectors, self._dimension)
        part = TreePart(_key(entry, tree, vectors, version), version, len(tree.nodes))
        self._catalogue.announce(scope, entry.manifest.doc_id, part.key, NODES)
        write(self._nodes, _points(scope, entry, document, tree, vectors, part), self._lock)
        self._publish(scope, Entry(entry.manifest, {**entry.trees, tree.builder: part}))

    def delete(self, scope: Scope, entry: Entry, builder: str) -> bool:
        """See `Store.delete_tree`."""
        kept = {b: part for b, part in entry.trees.items() if b != builder}
        if found := len(kept) < len(entry.trees):
            self._publish(scope, Entry(entry.manifest, kept))
        return found

    def _publish(self, scope: Scope, entry: Entry) -> None:
        """Make these the trees of the document and delete its other nodes."""
        doc_id, live = entry.manifest.doc_id, tuple(entry.versions[NODES])
        self._catalogue.publish(scope, entry)
        with self._lock:
            self._nodes.delete(points.of_document(scope, doc_id).without(live), NODES)
            self._catalogue.swept(scope, doc_id, NODES)

    def tree(self, scope: Scope, doc_id: str, builder: str) -> RetrievalTree:
        """See `Store.tree`."""
        for _ in range(ATTEMPTS):
            with self._lock:
                part = self._part(scope, doc_id, builder)
                if known := self._decoded.get(part.key):
                    return known
                found = self._nodes.scroll(_of((part,)), _NODE_FIELDS)
            if len(found) == part.nodes:
                return self._decode(builder, part.key, found)
        raise _missing(builder, doc_id)

    def _part(self, scope: Scope, doc_id: str, builder: str) -> TreePart:
        entry = self._catalogue.entry(scope, doc_id)
        if entry is None or builder not in entry.trees:
            raise NotFoundError(
                f"Document {doc_id!r} has no tree of builder {builder!r}.", hint="Build and store it first."
            )
        return entry.trees[builder]

    def _decode(self, builder: str, key: str, found: Sequence[Payload]) -> RetrievalTree:
        nodes = [{**from_json(p["node"]), "text": p["text"]} for p in sorted(found, key=lambda p: p["order"])]
        tree = RetrievalTree.model_validate({"builder": builder, "nodes": nodes})
        with self._decoding:
            self._decoded[key] = tree
            if len(self._decoded) > CACHED:
                del self._decoded[next(iter(self._decoded))]
        return tree

    def versions(self, scope: Scope, builder: str) -> dict[str, str]:
        """See `Store.tree_versions`."""
        return {
            entry.manifest.doc_id: entry.trees[builder].version
            for entry in self._catalogue.entries(scope)
            if builder in entry.trees
        }

    def search(self, scope: Scope, builder: str, query: SearchQuery) -> list[NodeHit]:
        """See `Store.search_nodes`."""
        points.check_query(query, query.top_k, self._dimension)
        corpus = points.of_scope(scope).also((BUILDER, (builder,)))
        where = corpus.also(*points.metadata_filters(query.filters))
        for _ in range(ATTEMPTS):
            with self._lock:
                hits = self._catalogue.search(lambda nearest: best(query, nearest, where, corpus=corpus), NODES)
                found = self._nodes.retrieve([hit.chunk_id for hit in hits], ("doc_id",))
            if len(found) == len(hits):
                return [NodeHit(found[h.chunk_id]["doc_id"], _index(h.chunk_id), h.score) for h in hits]
        raise _missing(builder)

    def scores(
        self, scope: Scope, builder: str, doc_ids: Sequence[str], vector: Vectors
    ) -> dict[str, NDArray[np.float32]]:
        """See `Store.node_scores`."""
        points.check_vector(vector, self._dimension)
        for _ in range(ATTEMPTS):
            with self._lock:
                entries = self._catalogue.entries(scope, doc_ids)
                parts = {e.manifest.doc_id: e.trees[builder] for e in entries if builder in e.trees}
                count, where = sum(part.nodes for part in parts.values()), _of(tuple(parts.values()))
                if not count:
                    return {}
                hits = self._nodes.nearest(vector, where, corpus=where, limit=count, space=NODES, exact=True)
            if len(hits) == count:
                return _dealt(parts, hits)
        raise _missing(builder)


def _check(document: Document, tree: RetrievalTree, vectors: Vectors, dimension: int) -> None:
    """Whether these belong together.

    Raises:
        InvariantError: A leaf is not the document's text, a node lies outside of it, or the vectors are not unit
            vectors of shape (nodes, d).
    """
    points.check_vectors(vectors, len(tree.nodes), dimension, document.uri)
    for i, node in enumerate(tree.nodes):
        if i < tree.leaves and node.spans[0].of(document.text) != node.text:
            raise InvariantError(f"Leaf {i} of {document.uri!r} is not the text at {node.spans[0]}.")
        if max(span.end for span in node.spans) > len(document.text):
            raise InvariantError(f"Node {i} of {document.uri!r} ends behind its {len(document.text)} characters.")


def _key(entry: Entry, tree: RetrievalTree, vectors: Vectors, version: str) -> str:
    """Key of one state of one tree of one document, of the form of `discorag.store.payload.version_of`."""
    content = [entry.manifest.fingerprint, version, tree.model_dump_json(), digest(vectors.tobytes())]
    return f"{entry.manifest.doc_id}:{stable_id(*content)}"


def _stem(key: str) -> str:
    """What the ids of a tree's nodes begin with. Their last 8 digits are the index: a score needs no payload."""
    return stable_id("node", key)[:-8]


def _index(node_id: str) -> int:
    return int(node_id[-8:], 16)


def _of(parts: tuple[TreePart, ...]) -> Where:
    return Where((("version", tuple(part.key for part in parts)),))


def _points(
    scope: Scope, entry: Entry, document: Document, tree: RetrievalTree, vectors: Vectors, part: TreePart
) -> Iterator[Point]:
    common = points.common(scope, entry.manifest)
    common |= {"version": part.key, BUILDER: tree.builder, "kind": "node", "meta": points.pairs(document.metadata)}
    stem = _stem(part.key)
    for i, node in enumerate(tree.nodes):
        payload = {
            **common,
            "order": i,
            "depth": node.layer,
            "text": node.text,
            "node": node.model_dump_json(exclude={"text"}),
        }
        yield Point(f"{stem}{i:08x}", vectors[i], payload, sparse(node.text), NODES)


def _dealt(parts: Mapping[str, TreePart], hits: Sequence[Hit]) -> dict[str, NDArray[np.float32]]:
    """The scores by document, in the order of its nodes."""
    scores = {doc_id: np.zeros(part.nodes, np.float32) for doc_id, part in parts.items()}
    of_tree = {_stem(part.key): scores[doc_id] for doc_id, part in parts.items()}
    for hit in hits:
        of_tree[hit.chunk_id[:-8]][_index(hit.chunk_id)] = hit.score
    return scores


def _missing(builder: str, doc_id: str = "") -> StoreError:
    where = f" of document {doc_id!r}" if doc_id else ""
    return StoreError(f"Nodes of builder {builder!r}{where} are missing.", hint="Try again, or build the tree anew.")
