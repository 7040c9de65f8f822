"""Retrieval trees of stored documents, in the database."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json
from sqlalchemy import delete, func, insert, select, update

from discorag.models.loops import raise_if_cancelled
from discorag.schema.document import Chunk, Scope
from discorag.schema.errors import NotFoundError
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors, digest, stable_id, unit
from discorag.store import tables
from discorag.store.database import STALE, Database, is_in, named, no_document
from discorag.store.documents import Documents, Recent, in_parts, manifest_from
from discorag.store.outline import Outline, node_id
from discorag.store.records import Manifest, check_tree
from discorag.store.tables import pack_text, pack_vectors, unpack_text, unpack_vectors
from discorag.text.sentences import sentence_spans

SUMMARY = "Summary"
"""What a reader sees as the last heading of a summary."""
_TREES = 512  # trees kept in memory, decoded, and outlines

D, T = tables.documents, tables.trees


class DocumentTrees(Documents):
    """Documents with their retrieval trees: at most one of each builder. A changed document loses its trees."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._outlines, self._decoded = Recent[Outline](_TREES), Recent[RetrievalTree](_TREES)

    def put_tree(self, scope: Scope, doc_id: str, tree: RetrievalTree, vectors: Vectors, *, version: str) -> None:
        """Store a retrieval tree of a stored document with the unit vectors of its nodes, or of its leaves (`Outline`).

        It replaces that builder's; ``version`` is `Builder.version`.

        Raises:
            NotFoundError: The document is not stored, or was replaced meanwhile.
            StoreFullError: The disk is nearly full.
            InvariantError: A leaf is not the document's text, a node lies outside of it, or the vectors are not unit
                vectors of this shape.
        """
        self.database.place.check_room()
        document, manifest = self.document(scope, doc_id), self.manifest(scope, doc_id)
        check_tree(document, tree, vectors, self.database.identity.dimension)
        raise_if_cancelled()
        if manifest is None or manifest.content_hash != document.content_hash:
            raise no_document(scope, doc_id)
        row = _tree_row(manifest, tree, vectors, version)
        with self.database.write(doc_id) as db:
            now = select(D.c.number).where(is_in(scope), D.c.doc_id == doc_id, D.c.fingerprint == manifest.fingerprint)
            number = db.scalar(now)
            if number is None:
                raise no_document(scope, doc_id)
            db.execute(delete(T).where(T.c.document == number, T.c.builder == tree.builder))
            db.execute(insert(T), {"document": number, **row})
            count = select(func.count()).where(T.c.document == number).scalar_subquery()
            db.execute(update(D).where(D.c.number == number).values(trees=count))

    def tree_of(self, scope: Scope, outline: Outline) -> RetrievalTree:
        """The tree that ``outline`` is of, with its texts. Raises `NotFoundError` if it was replaced since."""
        return self._tree(scope, outline.builder, outline.key)

    def _tree(self, scope: Scope, builder: str, key: str) -> RetrievalTree:
        known = self._decoded.get(key)
        with self.database.read() as db:
            body = db.scalar(select(T.c.key if known else T.c.body).join(D).where(is_in(scope), T.c.key == key))
        if body is None:
            raise NotFoundError(f"A tree by {builder!r} was replaced meanwhile.", hint="Read it again.")
        return known or self._decoded.put(key, _decoded(builder, body))

    def check_trees(self, scope: Scope, keys: Sequence[str]) -> None:
        """Raise `NotFoundError` if a tree with one of these keys was deleted or replaced."""
        query = select(T.c.key).join(D).where(is_in(scope))
        with self.database.read() as db:
            known = {key for part in in_parts(keys) for key in db.scalars(query.where(T.c.key.in_(part)))}
        if not known.issuperset(keys):
            raise NotFoundError(f"A tree in {named(scope)} was deleted or replaced meanwhile.", hint=STALE)

    def outlines(self, scope: Scope, builder: str, doc_ids: Sequence[str]) -> dict[str, Outline]:
        """These documents' trees of this builder without their texts; documents without such a tree are left out.

        Much faster than `tree_of`.
        """
        query = select(D.c.doc_id, T.c.key).join(T).where(T.c.builder == builder)
        with self.database.read() as db:
            keys = self._rows(scope, query, doc_ids)
            known = {key: outline for _, key in keys if (outline := self._outlines.get(key))}
            missing = [key for _, key in keys if key not in known]
            for part in in_parts(missing):
                for key, data in db.execute(select(T.c.key, T.c.outline).where(T.c.key.in_(part))).tuples():
                    known[key] = self._outlines.put(key, Outline.unpack(builder, data, key))
        return {doc_id: known[key] for doc_id, key in keys if key in known}

    def tree_versions(self, scope: Scope, builder: str, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        """The versions of this builder's trees by document: of all documents, or of these."""
        query = select(D.c.doc_id, T.c.version).join(T).where(T.c.builder == builder)
        return {row.doc_id: row.version for row in self._rows(scope, query, doc_ids)}

    def node_scores(
        self, scope: Scope, outlines: Mapping[str, Outline], vector: Vectors
    ) -> dict[str, NDArray[np.float32]]:
        """The cosine of every node to a unit vector of shape (d,), by document: shape (nodes,), in the nodes' order.

        DISRetrieval's algorithm 1 starts from these. Trees that were replaced since `outlines` read them are left out.
        """
        found: dict[str, Vectors] = {}
        with self.database.read() as db:
            for part in in_parts([outline.key for outline in outlines.values()]):
                rows = db.execute(select(T.c.key, T.c.vectors).join(D).where(is_in(scope), T.c.key.in_(part))).tuples()
                found |= {key: unpack_vectors(data, len(vector)) @ vector for key, data in rows}
        return {doc_id: o.cosines(found[o.key]) for doc_id, o in outlines.items() if o.key in found}

    def chunks(self, scope: Scope, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in that order, with their units' vectors.

        The id of a node of a retrieval tree (`discorag.store.outline.node_id`) gives the node's text as a passage.

        Raises:
            NotFoundError: One is missing.
        """
        found = self.stored_chunks(scope, ids)
        if (missing := next((i for i in ids if i not in found), None)) is not None:
            raise NotFoundError(f"There is no chunk {missing!r} in {named(scope)}.", hint=STALE)
        return [found[i] for i in ids]

    def stored_chunks(self, scope: Scope, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks of `chunks` by id, without those whose document was deleted or replaced."""
        with self.database.read():  # one state for both
            found = self._chunks(scope, set(ids))
            return found | self._passages(scope, [i for i in dict.fromkeys(ids) if i not in found])

    def _passages(self, scope: Scope, ids: Sequence[str]) -> dict[str, Chunk]:
        """Passages by the ids of their nodes; an unknown id is left out."""
        nodes = defaultdict[str, list[int]](list)  # by the key of their tree
        for key, _, number in (i.partition(".") for i in ids):
            if number.isdecimal():
                nodes[key].append(int(number))
        query = select(T.c.key, T.c.builder, T.c.nodes, D.c.manifest).join(D).where(is_in(scope))
        with self.database.read() as db:
            rows = [row for part in in_parts(nodes) for row in db.execute(query.where(T.c.key.in_(part)))]
        found: dict[str, Chunk] = {}
        for row in rows:
            tree, manifest = self._tree(scope, row.builder, row.key), manifest_from(row.manifest)
            for number in nodes[row.key]:
                if number < row.nodes:
                    passage = node_id(row.key, number)
                    found[passage] = _passage(passage, manifest, number, tree.nodes[number])
        return found


def _tree_row(manifest: Manifest, tree: RetrievalTree, vectors: Vectors, version: str) -> dict[str, Any]:
    body = to_json(tree)  # bytes, deleted early: it is most of what a long document takes in memory
    of_body, compressed = digest(body), pack_text(body)
    del body
    packed = pack_vectors(unit(vectors))
    return {
        "builder": tree.builder,
        "version": version,
        "key": stable_id(manifest.doc_id, manifest.fingerprint, version, of_body, digest(packed)),
        "nodes": len(tree.nodes),
        "outline": Outline.of(tree, vectors).pack(),
        "vectors": packed,
        "body": compressed,
    }


def _decoded(builder: str, body: bytes) -> RetrievalTree:
    """The tree as written. It was checked then; another check would take most of the time."""
    nodes = tuple(_node(fields) for fields in json.loads(unpack_text(body))["nodes"])
    return RetrievalTree.model_construct(builder=builder, nodes=nodes)


def _node(fields: dict[str, Any]) -> RetrievalNode:
    fields["children"] = tuple(fields["children"])
    fields["spans"] = tuple(Span.model_construct(**span) for span in fields["spans"])
    return RetrievalNode.model_construct(**fields)


def _passage(node_id: str, manifest: Manifest, order: int, node: RetrievalNode) -> Chunk:
    """A node as a passage of its own: an inner node's text is a summary of what lies below it."""
    return Chunk(
        id=node_id,
        doc_id=manifest.doc_id,
        order=order,
        span=Span(start=0, end=len(node.text)),
        text=node.text,
        sentences=sentence_spans(node.text),
        title=manifest.title,
        headings=tuple(filter(None, (node.heading, SUMMARY))),
        stands_for=node.spans,
        uri=manifest.uri,
    )
