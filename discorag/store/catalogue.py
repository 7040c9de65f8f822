"""Which version of each document is live; searches that see no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from threading import RLock
from typing import Protocol

import numpy as np

from discorag.store import payload as points
from discorag.store.checksums import checksum
from discorag.store.disk.archive import Archive
from discorag.store.payload import Entry
from discorag.store.protocol import Corpus, Hit, Manifest
from discorag.store.shard import Point, Shard, Where
from discorag.text.terms import SparseVector
from discorag.types.document import Document, Scope
from discorag.types.vectors import Vectors

_ALL = Where()


class Nearest(Protocol):
    """`Shard.nearest` over what is live."""

    def __call__(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """As there."""
        ...


class Catalogue(Protocol):
    """What is live of each document: `OwnedCatalogue` or `discorag.store.shared.SharedCatalogue`."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held around what must be seen together. Whoever holds it may take it again."""
        ...

    def entries(self, scope: Scope, doc_ids: Iterable[str] | None = None) -> list[Entry]:
        """All of the scope, or those of these documents that are in it, in no order."""
        ...

    def entry(self, scope: Scope, doc_id: str) -> Entry | None:
        """The one of this document."""
        ...

    def of_tenant(self, tenant: str) -> list[tuple[Scope, Entry]]:
        """All of this tenant's scopes, in no order."""
        ...

    def all(self) -> list[tuple[Scope, Entry]]:
        """Every document of every scope, also of those that are not shown because they are damaged."""
        ...

    def document(self, scope: Scope, doc_id: str) -> Document:
        """The text of a document of `all`."""
        ...

    def restate(self, scope: Scope, entry: Entry) -> bool:
        """Publish a document again as its chunks' points have it; whether all of these are there."""
        ...

    def withhold(self, scope: Scope, doc_id: str) -> None:
        """Do not show a damaged document until it is published again."""
        ...

    def clear(self) -> None:
        """Delete the points of no document, unless others write to the shards as well."""
        ...

    def begin(self, scope: Scope, doc_id: str) -> None:
        """Points of this document will be written or deleted."""
        ...

    def announce(self, scope: Scope, doc_id: str, version: str) -> None:
        """Chunks of this version will be written; they are hidden until it is published."""
        ...

    def publish(self, scope: Scope, entry: Entry, point: Point | None = None) -> None:
        """Make this entry the live one by writing its document's point; without one, only the trees change."""
        ...

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """Make no version live; whether one was."""
        ...

    def swept(self, scope: Scope, doc_id: str) -> None:
        """What was hidden of this document is gone."""
        ...

    def end(self, scope: Scope, doc_id: str) -> None:
        """What was begun with this document is done, if nothing of it is hidden."""
        ...

    def search(self, find: Callable[[Nearest], list[Hit]]) -> list[Hit]:
        """What ``find`` finds, all of it in one state of every document that it meets."""
        ...


class OwnedCatalogue:
    """Entries in memory, right where nothing else writes to the shards.

    Nothing is ever hidden but what was written or replaced since opening.

    Args:
        docs: Shard of the documents.
        nodes: Shard of the chunks and nodes.
        archive: The documents on disk; None: they are read from their shard.

    Raises:
        StoreDamagedError: A row of the archive is not as it was written.

    Example:
        >>> from discorag.store.catalogue import OwnedCatalogue
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> piece.put_in(store)
        >>> [entry.manifest.uri for entry in OwnedCatalogue(*shards).entries(piece.scope)]
        ['tides.md']
    """

    def __init__(self, docs: Shard, nodes: Shard, archive: Archive | None = None) -> None:
        self._docs = docs
        self._nodes = nodes
        self._archive = archive
        self._hidden: dict[tuple[Scope, str], set[str]] = {}  # document -> versions written, but not live
        self._live: dict[Scope, dict[str, Entry]] = {}
        self.withheld: set[tuple[Scope, str]] = set()
        self.lock = RLock()
        for scope, entry in self.all():
            self._live.setdefault(scope, {})[entry.manifest.doc_id] = entry
        if archive is None:  # in memory
            self.clear()

    def all(self) -> list[tuple[Scope, Entry]]:
        """See `Catalogue.all`."""
        if self._archive:
            return [(kept.scope, kept.entry) for kept in self._archive.kept()]
        return scoped_entries(self._docs)

    def finish(self) -> bool:
        """On opening: make an end of writes that failed or that a crash cut off, with what was live before them.

        Returns:
            Whether what was live is there.
        """
        sound = True
        for scope, doc_id in self._archive.begun() if self._archive else ():
            entry = self.entry(scope, doc_id)
            if entry and not self.restate(scope, entry):
                sound = False
                continue
            if entry is None:
                self._docs.delete(points.of_document(scope, doc_id))
            keep = tuple(v for versions in entry.versions.values() for v in versions) if entry else ()
            self._nodes.delete(points.of_document(scope, doc_id).without(keep))
            self.swept(scope, doc_id)
        return sound

    def restate(self, scope: Scope, entry: Entry) -> bool:
        """See `Catalogue.restate`."""
        if found := restated(self._nodes, scope, entry, self.document(scope, entry.manifest.doc_id)):
            self.publish(scope, *found)
        return found is not None

    def withhold(self, scope: Scope, doc_id: str) -> None:
        """See `Catalogue.withhold`. It stays in the archive."""
        with self.lock:
            self._live.get(scope, {}).pop(doc_id, None)
            self.withheld.add((scope, doc_id))

    def document(self, scope: Scope, doc_id: str) -> Document:
        """See `Catalogue.document`."""
        if self._archive:
            return self._archive.document(scope, doc_id)
        return points.document_from(self._docs.retrieve([doc_id])[doc_id])

    def clear(self) -> None:
        """See `Catalogue.clear`."""
        entries = {entry.manifest.doc_id: (scope, entry) for scope, entry in self.all()}
        live = tuple(v for _, entry in entries.values() for versions in entry.versions.values() for v in versions)
        self._nodes.delete(Where(none=(("version", live),)))
        for found in [p.payload for p in self._docs.points(Where()) if p.id not in entries]:
            self._docs.delete(Where((("doc_id", (found["doc_id"],)),)))
            if found["doc_id"] in entries:  # it is there under another id
                self.restate(*entries[found["doc_id"]])

    def entries(self, scope: Scope, doc_ids: Iterable[str] | None = None) -> list[Entry]:
        """See `Catalogue.entries`."""
        with self.lock:
            live = self._live.get(scope, {})
            return [live[d] for d in (live if doc_ids is None else dict.fromkeys(doc_ids)) if d in live]

    def entry(self, scope: Scope, doc_id: str) -> Entry | None:
        """See `Catalogue.entry`."""
        return next(iter(self.entries(scope, [doc_id])), None)

    def of_tenant(self, tenant: str) -> list[tuple[Scope, Entry]]:
        """See `Catalogue.of_tenant`."""
        with self.lock:
            scopes = [(scope, live) for scope, live in self._live.items() if scope.tenant == tenant]
            return [(scope, entry) for scope, live in scopes for entry in live.values()]

    def _live_versions(self, scope: Scope, doc_ids: Iterable[str]) -> set[str]:
        return {points.version_of(entry.manifest) for entry in self.entries(scope, doc_ids)}

    def begin(self, scope: Scope, doc_id: str) -> None:
        """See `Catalogue.begin`."""
        if self._archive:
            self._archive.begin(scope, doc_id)

    def announce(self, scope: Scope, doc_id: str, version: str) -> None:
        """See `Catalogue.announce`."""
        with self.lock:
            if version not in self._live_versions(scope, [doc_id]):
                self._hidden.setdefault((scope, doc_id), set()).add(version)

    def publish(self, scope: Scope, entry: Entry, point: Point | None = None) -> None:
        """See `Catalogue.publish`."""
        doc_id = entry.manifest.doc_id
        with self._archive.transaction() if self._archive else nullcontext(), self.lock:
            if self._archive:
                self._archive.put(scope, entry, str(point.payload["document"]) if point else None)
            if point:
                self._docs.upsert([point])
            else:
                self._docs.set_payload(doc_id, entry.payload)
        with self.lock:
            self._hide(scope, doc_id, {points.version_of(entry.manifest)})
            self._live.setdefault(scope, {})[doc_id] = entry
            self.withheld.discard((scope, doc_id))

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """See `Catalogue.withdraw`."""
        with self.lock:
            if self.entry(scope, doc_id) is None:
                return False
            with self._archive.transaction() if self._archive else nullcontext():
                if self._archive:
                    self._archive.remove(scope, doc_id)
                self._docs.delete(points.of_document(scope, doc_id))
            self._hide(scope, doc_id, set())
            del self._live[scope][doc_id]
            return True

    def _hide(self, scope: Scope, doc_id: str, following: set[str]) -> None:
        """Hide what is live of a document, but for the versions that follow."""
        versions = self._hidden.pop((scope, doc_id), set[str]()) | self._live_versions(scope, [doc_id])
        if versions := versions - following:
            self._hidden[scope, doc_id] = versions

    def swept(self, scope: Scope, doc_id: str) -> None:
        """See `Catalogue.swept`."""
        with self.lock:
            self._hidden.pop((scope, doc_id), None)
        self.end(scope, doc_id)

    def end(self, scope: Scope, doc_id: str) -> None:
        """See `Catalogue.end`."""
        if self._archive and (scope, doc_id) not in self._hidden:
            self._archive.end(scope, doc_id)

    def search(self, find: Callable[[Nearest], list[Hit]]) -> list[Hit]:
        """See `Catalogue.search`."""
        with self.lock:
            hidden = tuple(version for versions in self._hidden.values() for version in versions)
            if not hidden:
                return find(self._nodes.nearest)

            def nearest(vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
                where, corpus = where.without(hidden), corpus.without(hidden)
                return self._nodes.nearest(vector, where, corpus=corpus, limit=limit)

            return find(nearest)


def restated(nodes: Shard, scope: Scope, entry: Entry, document: Document) -> tuple[Entry, Point] | None:
    """The entry and the point of a document as its chunks' points have it; None if chunks are missing."""
    where = points.of_scope(scope).also(("version", (points.version_of(entry.manifest),)))
    chunks = list(nodes.points(where))
    if len(chunks) != entry.manifest.chunks:
        return None
    entry = replace(entry, content=checksum(chunks, exact=nodes.exact))
    vectors = np.stack([point.dense for point in chunks])
    return entry, points.document_point(scope, document, entry, vectors)


def counted(entries: Iterable[tuple[Scope, Entry]]) -> list[Corpus]:
    """The corpora of one tenant's documents, by name."""
    found: dict[str, list[Manifest]] = {}
    for scope, entry in entries:
        found.setdefault(scope.corpus, []).append(entry.manifest)
    return [
        Corpus(
            name=name,
            documents=len(manifests),
            chunks=sum(m.chunks for m in manifests),
            written=max((m.written for m in manifests if m.written), default=None),
        )
        for name, manifests in sorted(found.items())
    ]


def scoped_entries(docs: Shard, where: Where = _ALL) -> list[tuple[Scope, Entry]]:
    """The documents that match, from their points."""
    found = docs.scroll(where, ("tenant", "corpus", *points.ENTRY_FIELDS))
    return [(Scope(tenant=p["tenant"], corpus=p["corpus"]), points.entry_from(p)) for p in found]
