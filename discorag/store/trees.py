"""Retrieval trees of stored documents, in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import delete, insert, select

from discorag.models.loops import raise_if_cancelled
from discorag.schema.document import Chunk, Scope
from discorag.schema.errors import NotFoundError
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span, Vectors, digest, stable_id, unit
from discorag.store import tables
from discorag.store.database import Database, is_in, no_document
from discorag.store.documents import Documents, in_parts, manifest_from, rows_of
from discorag.store.outline import Outline, node_stem, split_node_id
from discorag.store.recent import Recent
from discorag.store.records import Manifest, check_tree
from discorag.store.tables import pack, pack_text, pack_vectors, unpack, unpack_text, unpack_vectors
from discorag.text.sentences import sentence_spans

SUMMARY = "Summary"
"""What a reader sees as the last heading of a summary."""
_TREES = 512  # trees kept in memory, decoded, and outlines

D, T = tables.documents, tables.trees


class Trees:
    """Retrieval trees, at most one of each builder for a document. They go when their document changes.

    Args:
        database: Where they are.

    Example:
        >>> from discorag.store.trees import Trees
        >>> Trees(store.database).versions(scope, "headings")
        {}
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._documents = Documents(database)
        self._outlines, self._decoded = Recent[Outline](_TREES), Recent[RetrievalTree](_TREES)

    def put(self, scope: Scope, doc_id: str, tree: RetrievalTree, vectors: Vectors, *, version: str) -> None:
        """Store a retrieval tree of a stored document, replacing that builder's.

        Args:
            scope: Whose.
            doc_id: The document's.
            tree: The tree.
            vectors: Unit vectors of its nodes, shape (nodes, d).
            version: `Builder.version`.

        Raises:
            NotFoundError: The document is not stored, or was replaced meanwhile.
            InvariantError: A leaf is not the document's text, a node lies outside of it, or the vectors are not unit
                vectors of this shape.
        """
        document, manifest = self._documents.document(scope, doc_id), self._documents.manifest(scope, doc_id)
        check_tree(document, tree, vectors, self._database.identity.dimension)
        raise_if_cancelled()
        if manifest is None or manifest.content_hash != document.content_hash:
            raise no_document(scope, doc_id)
        row = _tree_row(manifest, tree, vectors, version)
        with self._database.write() as db:
            now = select(D.c.number).where(is_in(scope), D.c.doc_id == doc_id, D.c.fingerprint == manifest.fingerprint)
            number = db.scalar(now)
            if number is None:
                raise no_document(scope, doc_id)
            db.execute(delete(T).where(T.c.document == number, T.c.builder == tree.builder))
            db.execute(insert(T), {"document": number, **row})

    def delete(self, scope: Scope, doc_id: str, builder: str) -> bool:
        """Remove the tree of this builder; whether it was there."""
        owner = select(D.c.number).where(is_in(scope), D.c.doc_id == doc_id).scalar_subquery()
        with self._database.write() as db:
            return db.execute(delete(T).where(T.c.document == owner, T.c.builder == builder)).rowcount > 0

    def tree(self, scope: Scope, doc_id: str, builder: str) -> RetrievalTree:
        """The tree as it was stored. Raises `NotFoundError`."""
        with self._database.read():
            found = rows_of(self._database, scope, select(T.c.key).join(D).where(T.c.builder == builder), [doc_id])
            if not found:
                said = f"Document {doc_id!r} has no tree of builder {builder!r}."
                raise NotFoundError(said, hint="Build and store it first.")
            return self._tree(scope, builder, found[0].key)

    def of(self, scope: Scope, outline: Outline) -> RetrievalTree:
        """The tree that ``outline`` is of, with its texts. Raises `NotFoundError` if it was replaced since."""
        return self._tree(scope, outline.builder, outline.key)

    def _tree(self, scope: Scope, builder: str, key: str) -> RetrievalTree:
        with self._database.read() as db:
            wanted = T.c.key if key in self._decoded else T.c.body
            body = db.scalar(select(wanted).join(D).where(is_in(scope), T.c.key == key))
        if body is None:
            raise NotFoundError(f"A tree by {builder!r} was replaced meanwhile.", hint="Read it again.")
        return self._decoded.get(key) or self._decoded.put(key, _decoded(builder, body))

    def outlines(self, scope: Scope, builder: str, doc_ids: Sequence[str]) -> dict[str, Outline]:
        """These documents' trees of this builder without their texts, those of the documents that have one."""
        query = select(D.c.doc_id, T.c.key).join(T).where(T.c.builder == builder)
        with self._database.read() as db:
            keys = rows_of(self._database, scope, query, doc_ids)
            known = {key: outline for _, key in keys if (outline := self._outlines.get(key))}
            missing = [key for _, key in keys if key not in known]
            for part in in_parts(missing):
                for key, data in db.execute(select(T.c.key, T.c.outline).where(T.c.key.in_(part))).tuples():
                    known[key] = self._outlines.put(key, Outline.from_bytes(builder, unpack(data), key))
        return {doc_id: known[key] for doc_id, key in keys if key in known}

    def versions(self, scope: Scope, builder: str, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        """The version of this builder's tree by document, for those of the documents (None: all) that have one."""
        query = select(D.c.doc_id, T.c.version).join(T).where(T.c.builder == builder)
        return {row.doc_id: row.version for row in rows_of(self._database, scope, query, doc_ids)}

    def scores(self, scope: Scope, outlines: Mapping[str, Outline], vector: Vectors) -> dict[str, NDArray[np.float32]]:
        """The cosine of every node to a unit vector, by document: shape (nodes,), in the order of the nodes.

        Of the trees as `outlines` gave them; those that were replaced since are left out. What DISRetrieval's
        algorithm 1 starts from.

        Args:
            scope: Whose.
            outlines: Trees by document.
            vector: Shape (d,).
        """
        found: dict[str, Vectors] = {}
        with self._database.read() as db:
            for part in in_parts([outline.key for outline in outlines.values()]):
                rows = db.execute(select(T.c.key, T.c.vectors).join(D).where(is_in(scope), T.c.key.in_(part))).tuples()
                found |= {key: unpack_vectors(data, len(vector)) @ vector for key, data in rows}
        scores: dict[str, NDArray[np.float32]] = {}
        for doc_id, outline in outlines.items():
            if outline.key in found:
                stored = found[outline.key]
                scores[doc_id] = stored if outline.lengths is None else outline.cosines(stored)
        return scores

    def passages(self, scope: Scope, ids: Sequence[str]) -> dict[str, Chunk]:
        """Those of these ids that are of nodes (`discorag.store.outline.node_id`), as passages."""
        numbers = dict[str, dict[str, int]]()  # of every node, by the stem of its tree and its id
        for i in ids:
            with suppress(ValueError):
                stem, number = split_node_id(i)
                numbers.setdefault(stem, {})[i] = number
        if not numbers:
            return {}
        query = select(T.c.stem, T.c.key, T.c.builder, T.c.nodes, D.c.doc_id, D.c.manifest).join(D)
        with self._database.read() as db:
            rows = [r for part in in_parts(numbers) for r in db.execute(query.where(is_in(scope), T.c.stem.in_(part)))]
        found: dict[str, Chunk] = {}
        for row in rows:
            tree, title = self._tree(scope, row.builder, row.key), manifest_from(row.manifest).title
            nodes = {i: at for i, at in numbers[row.stem].items() if at < row.nodes}
            found |= {i: _passage(i, row.doc_id, at, tree.nodes[at], title) for i, at in nodes.items()}
        return found


def _tree_row(manifest: Manifest, tree: RetrievalTree, vectors: Vectors, version: str) -> dict[str, Any]:
    """Where inner nodes are means, only the leaves' vectors are stored: those of the others follow from them."""
    outline, body = Outline.of(tree, unit(vectors)), tree.model_dump_json()
    key = stable_id(manifest.doc_id, manifest.fingerprint, version, body, digest(vectors.tobytes()))
    return {
        "builder": tree.builder,
        "version": version,
        "key": key,
        "stem": node_stem(key),
        "nodes": len(tree.nodes),
        "outline": pack(outline.to_bytes()),
        "vectors": pack_vectors(unit(vectors if outline.lengths is None else vectors[: tree.leaves])),
        "body": pack_text(body),
    }


def _decoded(builder: str, body: bytes) -> RetrievalTree:
    """What was written, and checked before: it is not checked again, which would take most of the time."""
    nodes = tuple(_node(fields) for fields in json.loads(unpack_text(body))["nodes"])
    return RetrievalTree.model_construct(builder=builder, nodes=nodes)


def _node(fields: dict[str, Any]) -> RetrievalNode:
    fields["children"] = tuple(fields["children"])
    fields["spans"] = tuple(Span.model_construct(**span) for span in fields["spans"])
    return RetrievalNode.model_construct(**fields)


def _passage(node_id: str, doc_id: str, order: int, node: RetrievalNode, title: str) -> Chunk:
    """A node as a passage of its own: an inner node's text is a summary of what lies below it."""
    return Chunk(
        id=node_id,
        doc_id=doc_id,
        order=order,
        span=Span(start=0, end=len(node.text)),
        text=node.text,
        sentences=sentence_spans(node.text),
        title=title,
        headings=tuple(filter(None, (node.heading, SUMMARY))),
        stands_for=node.spans,
    )
