"""Retrieval trees of stored documents: their nodes lie beside the chunks, in a space of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

from discorag.models.wanted import check_wanted
from discorag.store import payload as points
from discorag.store.catalogue import Catalogue
from discorag.store.checksums import checksum
from discorag.store.outline import Outline
from discorag.store.payload import LAYOUT, Entry, TreePart
from discorag.store.recent import Recent
from discorag.store.shard import BUILDER, LEAF, NODES, Payload, Point, Shard
from discorag.types.document import Document, Scope
from discorag.types.errors import InvariantError, NotFoundError, StoreError
from discorag.types.ids import digest, stable_id
from discorag.types.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.types.span import Span
from discorag.types.vectors import Vectors, unit

ATTEMPTS = 10
"""How often nodes are looked for whose tree is being replaced meanwhile."""
CACHED = 512
"""Trees kept in memory, decoded, and outlines."""
_NODE_FIELDS = ("order", "text", "node")


@dataclass(frozen=True)
class StoredTree:
    """A retrieval tree as it is stored; ``vectors`` has shape (nodes, d).

    Example:
        >>> from discorag.store.trees import StoredTree
        >>> StoredTree(tree, np.zeros((len(tree.nodes), 8), np.float32), "headings-1").version
        'headings-1'
    """

    tree: RetrievalTree
    vectors: Vectors
    version: str


class MadeTree(NamedTuple):
    """A tree as points, ready to be written; made before any lock is taken: a large one takes seconds.

    Example:
        >>> from discorag.store.payload import TreePart
        >>> from discorag.store.trees import MadeTree
        >>> MadeTree("headings", TreePart(key="k", version="headings-1", nodes=0), points=()).builder
        'headings'
    """

    builder: str
    part: TreePart
    points: Sequence[Point]


class Trees:
    """The trees in the shard of the chunks.

    A node is visible if its tree is named by the live entry of its document. Equal trees have equal keys, and a key
    never comes to mean another tree. One call writes at a time.

    Args:
        nodes: Shard of the chunks and nodes.
        catalogue: What is live.
        dimension: Length d of a vector.

    Example:
        >>> from discorag.store.catalogue import OwnedCatalogue
        >>> from discorag.store.trees import Trees
        >>> docs, nodes = shards
        >>> Trees(nodes, OwnedCatalogue(docs, nodes), dimension=8).versions(scope, "headings")
        {}
    """

    def __init__(self, nodes: Shard, catalogue: Catalogue, dimension: int) -> None:
        self._nodes = nodes
        self._catalogue = catalogue
        self._lock = catalogue.lock
        self._dimension = dimension
        self._decoded = Recent[RetrievalTree](CACHED)
        self._outlines = Recent[Outline](CACHED)

    def made(
        self, scope: Scope, entry: Entry, document: Document, tree: RetrievalTree, vectors: Vectors, version: str
    ) -> MadeTree:
        """What `put` writes; ``entry`` and ``document`` are what is stored.

        Raises:
            InvariantError: See `_check`.
        """
        _check(document, tree, vectors, self._dimension)
        part = TreePart(_key(entry, tree, vectors, version), version, len(tree.nodes), LAYOUT)
        nodes = list(_points(scope, entry, document, tree, vectors, part))
        return MadeTree(tree.builder, replace(part, content=checksum(nodes, exact=self._nodes.exact)), nodes)

    def put(self, scope: Scope, entry: Entry, tree: MadeTree) -> None:
        """See `Store.put_tree`; ``entry`` is what is stored, of the state that the tree was made for."""
        self._catalogue.begin(scope, entry.manifest.doc_id)
        self._catalogue.write(scope, entry.manifest.doc_id, tree.points)
        self._publish(scope, replace(entry, trees={**entry.trees, tree.builder: tree.part}))

    def delete(self, scope: Scope, entry: Entry, builder: str) -> bool:
        """See `Store.delete_tree`."""
        kept = {b: part for b, part in entry.trees.items() if b != builder}
        if found := len(kept) < len(entry.trees):
            self._catalogue.begin(scope, entry.manifest.doc_id)
            self._publish(scope, replace(entry, trees=kept))
        return found

    def _publish(self, scope: Scope, entry: Entry) -> None:
        """Make these the trees of the document and delete its other nodes."""
        self._catalogue.publish(scope, entry)
        self._catalogue.sweep(scope, entry.manifest.doc_id, entry.versions[NODES], NODES)

    def tree(self, scope: Scope, doc_id: str, builder: str) -> RetrievalTree:
        """See `Store.tree`."""
        for _ in range(ATTEMPTS):
            with self._lock:
                part = self._part(scope, doc_id, builder)
                found = self._whole(scope, builder, part.key, part.nodes)
            if found:
                return found
        raise _missing(builder, doc_id)

    def of(self, scope: Scope, outline: Outline) -> RetrievalTree:
        """See `Store.tree_of`."""
        with self._lock:
            found = self._whole(scope, outline.builder, outline.key, len(outline.shape.words))
        if found is None:
            raise NotFoundError(f"A tree by {outline.builder!r} was replaced meanwhile.", hint="Read it again.")
        return found

    def stored(self, scope: Scope, entry: Entry) -> list[StoredTree]:
        """The trees of a document that are all there, with their vectors."""
        whole: list[StoredTree] = []
        for builder, part in entry.trees.items():
            where = points.of_scope(scope).also(("version", (part.key,)))
            found = sorted(self._nodes.points(where), key=lambda p: p.payload["order"])
            if len(found) == part.nodes:
                tree = _decoded(builder, [p.payload for p in found])
                whole.append(StoredTree(tree, np.stack([p.dense for p in found]), part.version))
        return whole

    def _whole(self, scope: Scope, builder: str, key: str, nodes: int) -> RetrievalTree | None:
        """The tree of this key; None if it is not stored any more, or not yet."""
        if known := self._decoded.get(key):
            return known
        found = self._nodes.scroll(points.of_scope(scope).also(("version", (key,))), _NODE_FIELDS)
        return self._decoded.put(key, _decoded(builder, found)) if len(found) == nodes else None

    def _part(self, scope: Scope, doc_id: str, builder: str) -> TreePart:
        part = self._parts(scope, builder, [doc_id]).get(doc_id)
        if part is None:
            raise NotFoundError(
                f"Document {doc_id!r} has no tree of builder {builder!r}.", hint="Build and store it first."
            )
        return part

    def _parts(self, scope: Scope, builder: str, doc_ids: Sequence[str] | None = None) -> dict[str, TreePart]:
        """The trees of this builder that can be read, by document."""
        entries = self._catalogue.entries(scope, doc_ids)
        parts = {e.manifest.doc_id: e.trees[builder] for e in entries if builder in e.trees}
        return {doc_id: part for doc_id, part in parts.items() if part.layout == LAYOUT}

    def outlines(self, scope: Scope, builder: str, doc_ids: Sequence[str]) -> dict[str, Outline]:
        """See `Store.outlines`."""
        for _ in range(ATTEMPTS):
            with self._lock:
                parts = self._parts(scope, builder, doc_ids)
                outlines = self._read(builder, [part.key for part in parts.values()])
            if len(outlines) == len(parts):
                return {doc_id: outlines[part.key] for doc_id, part in parts.items()}
        raise _missing(builder)

    def _read(self, builder: str, keys: Sequence[str]) -> dict[str, Outline]:
        """The outlines of the trees with these keys, as far as they are stored."""
        known = {key: outline for key in keys if (outline := self._outlines.get(key))}
        roots = {node_id(key, 0): key for key in keys if key not in known}
        found = self._nodes.retrieve(list(roots), Outline.FIELDS) if roots else {}
        read = {roots[i]: Outline.unpacked(builder, payload, key=roots[i]) for i, payload in found.items()}
        return known | {key: self._outlines.put(key, outline) for key, outline in read.items()}

    def versions(self, scope: Scope, builder: str, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        """See `Store.tree_versions`."""
        return {doc_id: part.version for doc_id, part in self._parts(scope, builder, doc_ids).items()}

    def scores(self, scope: Scope, outlines: Mapping[str, Outline], vector: Vectors) -> dict[str, NDArray[np.float32]]:
        """See `Store.node_scores`."""
        points.check_vector(vector, self._dimension)
        means = {o.key: o for o in outlines.values() if o.lengths is not None}
        sizes = {o.key: len(o.shape.words) for o in outlines.values() if o.lengths is None}
        with self._lock:
            leaves = self._cosines(scope, LEAF, {k: o.shape.leaves for k, o in means.items()}, vector)
            found = self._cosines(scope, "version", sizes, vector)
        found |= {key: means[key].cosines(own) for key, own in leaves.items()}
        return {doc_id: found[o.key] for doc_id, o in outlines.items() if o.key in found}

    def _cosines(
        self, scope: Scope, field: str, sizes: Mapping[str, int], vector: Vectors
    ) -> dict[str, NDArray[np.float32]]:
        """By tree the cosines of its first nodes, which have its key in this field; without trees that lack some.

        Args:
            scope: Whose trees.
            field: Payload field.
            sizes: Number of these nodes by key.
            vector: Shape (d,).
        """
        if not sizes:
            return {}
        where = points.of_scope(scope).also((field, tuple(sizes)))
        return _dealt(sizes, *self._nodes.cosines(vector, where, sum(sizes.values())))


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
    """What the ids of a tree's nodes begin with. Their last 8 digits are the index: a score needs no payload.

    The first node has the outline.
    """
    return stable_id("node", key)[:-8]


def node_id(key: str, node: int) -> str:
    """The id of a node of the tree with this key (`Outline.key`)."""
    return f"{_stem(key)}{node:08x}"


def _points(
    scope: Scope, entry: Entry, document: Document, tree: RetrievalTree, vectors: Vectors, part: TreePart
) -> Iterator[Point]:
    common = points.common(scope, entry.manifest)
    common |= {"version": part.key, BUILDER: tree.builder, "kind": "node", "meta": points.pairs(document.metadata)}
    vectors = unit(vectors)
    outline = Outline.of(tree, vectors)
    leaf = {} if outline.lengths is None else {LEAF: part.key}
    for i, node in enumerate(tree.nodes):
        check_wanted()
        payload = {
            **common,
            **({} if i else outline.packed()),
            **(leaf if i < tree.leaves else {}),
            "order": i,
            "depth": node.layer,
            "text": node.text,
            "node": node.model_dump_json(exclude={"text"}),
        }
        yield Point(node_id(part.key, i), vectors[i], payload, space=NODES)


def _decoded(builder: str, found: Sequence[Payload]) -> RetrievalTree:
    """What was written, and checked before: it is not checked again, which would take most of the time."""
    nodes = tuple(_node(p) for p in sorted(found, key=lambda p: p["order"]))
    return RetrievalTree.model_construct(builder=builder, nodes=nodes)


def _node(payload: Payload) -> RetrievalNode:
    fields: dict[str, Any] = from_json(payload["node"])
    fields["text"], fields["children"] = payload["text"], tuple(fields["children"])
    fields["spans"] = tuple(Span.model_construct(**span) for span in fields["spans"])
    return RetrievalNode.model_construct(**fields)


def _dealt(sizes: Mapping[str, int], ids: bytes, cosines: Sequence[float]) -> dict[str, NDArray[np.float32]]:
    """The cosines by the key of the tree, in the order of its nodes; trees that lack some are left out."""
    halves, found = np.frombuffer(ids, ">u8").reshape(-1, 2), np.array(cosines, np.float32)
    dealt: dict[str, NDArray[np.float32]] = {}
    for key, size in sizes.items():
        own = halves[:, 0] == UUID(node_id(key, 0)).int >> 64
        if np.count_nonzero(own) < size:
            continue
        dealt[key] = np.empty(size, np.float32)
        dealt[key][halves[own, 1] & 0xFFFFFFFF] = found[own]
    return dealt


def _missing(builder: str, doc_id: str = "") -> StoreError:
    where = f" of document {doc_id!r}" if doc_id else ""
    return StoreError(f"Nodes of builder {builder!r}{where} are missing.", hint="Try again, or build the tree anew.")
