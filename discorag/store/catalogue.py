"""Which version of each document is live; searches that see no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from threading import RLock
from typing import Protocol

from discorag.store import payload as points
from discorag.store.payload import Entry
from discorag.store.protocol import Hit
from discorag.store.shard import Point, Shard, Where
from discorag.text.terms import SparseVector
from discorag.types.document import Scope
from discorag.types.vectors import Vectors


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

    def live(self, scope: Scope, doc_ids: Iterable[str]) -> set[str]:
        """The live versions of those of these documents that are in the scope."""
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

    def search(self, find: Callable[[Nearest], list[Hit]]) -> list[Hit]:
        """What ``find`` finds, all of it in one state of every document that it meets."""
        ...


class OwnedCatalogue:
    """Entries in memory, right where nothing else writes to the shards.

    Nothing is ever hidden but what was written or replaced since opening: chunks and nodes that a crash left without an
    entry are deleted on opening.

    Example:
        >>> from discorag.store.catalogue import OwnedCatalogue
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> piece.put_in(store)
        >>> [entry.manifest.uri for entry in OwnedCatalogue(*shards).entries(piece.scope)]
        ['tides.md']
    """

    def __init__(self, docs: Shard, nodes: Shard) -> None:
        self._docs = docs
        self._nodes = nodes
        self._hidden: dict[tuple[Scope, str], set[str]] = {}  # document -> versions written, but not live
        self._live = _load(docs)
        self.lock = RLock()
        entries = (entry for scope in self._live.values() for entry in scope.values())
        versions = tuple(v for entry in entries for live in entry.versions.values() for v in live)
        nodes.delete(Where(none=(("version", versions),)))

    def entries(self, scope: Scope, doc_ids: Iterable[str] | None = None) -> list[Entry]:
        """See `Catalogue.entries`."""
        with self.lock:
            live = self._live.get(scope, {})
            return [live[d] for d in (live if doc_ids is None else dict.fromkeys(doc_ids)) if d in live]

    def entry(self, scope: Scope, doc_id: str) -> Entry | None:
        """See `Catalogue.entry`."""
        return next(iter(self.entries(scope, [doc_id])), None)

    def live(self, scope: Scope, doc_ids: Iterable[str]) -> set[str]:
        """See `Catalogue.live`."""
        return {points.version_of(entry.manifest) for entry in self.entries(scope, doc_ids)}

    def announce(self, scope: Scope, doc_id: str, version: str) -> None:
        """See `Catalogue.announce`."""
        with self.lock:
            if version not in self.live(scope, [doc_id]):
                self._hidden.setdefault((scope, doc_id), set()).add(version)

    def publish(self, scope: Scope, entry: Entry, point: Point | None = None) -> None:
        """See `Catalogue.publish`."""
        doc_id = entry.manifest.doc_id
        with self.lock:
            if point:
                self._docs.upsert([point])
            else:
                self._docs.set_payload(doc_id, {"trees": entry.trees_json})
            self._hide(scope, doc_id, {points.version_of(entry.manifest)})
            self._live.setdefault(scope, {})[doc_id] = entry

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """See `Catalogue.withdraw`."""
        with self.lock:
            if self.entry(scope, doc_id) is None:
                return False
            self._docs.delete(points.of_document(scope, doc_id))
            self._hide(scope, doc_id, set())
            del self._live[scope][doc_id]
            return True

    def _hide(self, scope: Scope, doc_id: str, following: set[str]) -> None:
        """Hide what is live of a document, but for the versions that follow."""
        versions = self._hidden.pop((scope, doc_id), set[str]()) | self.live(scope, [doc_id])
        if versions := versions - following:
            self._hidden[scope, doc_id] = versions

    def swept(self, scope: Scope, doc_id: str) -> None:
        """See `Catalogue.swept`."""
        with self.lock:
            self._hidden.pop((scope, doc_id), None)

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


def _load(docs: Shard) -> dict[Scope, dict[str, Entry]]:
    live: dict[Scope, dict[str, Entry]] = {}
    for found in docs.scroll(Where(), ("tenant", "corpus", *points.ENTRY_FIELDS)):
        entry = points.entry_from(found)
        scope = Scope(tenant=found["tenant"], corpus=found["corpus"])
        live.setdefault(scope, {})[entry.manifest.doc_id] = entry
    return live
