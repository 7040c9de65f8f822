"""Which version of each document is live; searches that see no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from threading import RLock
from typing import Protocol

from discorag.store import payload as points
from discorag.store.protocol import Hit, Manifest, Vectors
from discorag.store.shard import Point, Shard, Where
from discorag.text.document import Scope
from discorag.text.terms import SparseVector


class Nearest(Protocol):
    """`Shard.nearest` over live chunks only."""

    def __call__(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """As there."""
        ...


class Catalogue(Protocol):
    """The live manifests: `OwnedCatalogue` or `discorag.store.shared.SharedCatalogue`."""

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Held around what must be seen together. Whoever holds it may take it again."""
        ...

    def manifests(self, scope: Scope) -> list[Manifest]:
        """All of the scope, in no order."""
        ...

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """The one of this document."""
        ...

    def live(self, scope: Scope, doc_ids: Iterable[str]) -> set[str]:
        """The live versions of those of these documents that are in the scope."""
        ...

    def announce(self, scope: Scope, manifest: Manifest) -> None:
        """Chunks of this version will be written; they are hidden until it is published."""
        ...

    def publish(self, scope: Scope, manifest: Manifest, point: Point) -> None:
        """Make this version the live one by writing its document's point."""
        ...

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """Make no version live; whether one was."""
        ...

    def swept(self, scope: Scope, doc_id: str) -> None:
        """The hidden chunks of this document are gone."""
        ...

    def search(self, find: Callable[[Nearest], list[Hit]]) -> list[Hit]:
        """What ``find`` finds, all of it in one state of every document that it meets."""
        ...


class OwnedCatalogue:
    """Manifests in memory, right where nothing else writes to the shards.

    Nothing is ever hidden but what was written or replaced since opening: chunks that a crash left without a manifest
    are deleted on opening.
    """

    def __init__(self, docs: Shard, nodes: Shard) -> None:
        self._docs = docs
        self._nodes = nodes
        self._hidden: dict[tuple[Scope, str], set[str]] = {}  # document -> versions written, but not live
        self._live = _load(docs)
        self.lock = RLock()
        versions = tuple(points.version_of(m) for scope in self._live.values() for m in scope.values())
        nodes.delete(Where(none=(("version", versions),)))

    def manifests(self, scope: Scope) -> list[Manifest]:
        """See `Catalogue.manifests`."""
        with self.lock:
            return list(self._live.get(scope, {}).values())

    def manifest(self, scope: Scope, doc_id: str) -> Manifest | None:
        """See `Catalogue.manifest`."""
        with self.lock:
            return self._live.get(scope, {}).get(doc_id)

    def live(self, scope: Scope, doc_ids: Iterable[str]) -> set[str]:
        """See `Catalogue.live`."""
        with self.lock:
            found = (self.manifest(scope, doc_id) for doc_id in doc_ids)
            return {points.version_of(m) for m in found if m is not None}

    def announce(self, scope: Scope, manifest: Manifest) -> None:
        """See `Catalogue.announce`."""
        with self.lock:
            if points.version_of(manifest) not in self.live(scope, [manifest.doc_id]):
                self._hide(scope, manifest)

    def publish(self, scope: Scope, manifest: Manifest, point: Point) -> None:
        """See `Catalogue.publish`."""
        with self.lock:
            old = self.manifest(scope, manifest.doc_id)
            self._docs.upsert([point])
            self._live.setdefault(scope, {})[manifest.doc_id] = manifest
            if old is not None:
                self._hide(scope, old)
            self._hidden.get((scope, manifest.doc_id), set()).discard(points.version_of(manifest))

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """See `Catalogue.withdraw`."""
        with self.lock:
            old = self.manifest(scope, doc_id)
            if old is None:
                return False
            self._docs.delete(points.of_document(scope, doc_id))
            del self._live[scope][doc_id]
            self._hide(scope, old)
            return True

    def _hide(self, scope: Scope, manifest: Manifest) -> None:
        self._hidden.setdefault((scope, manifest.doc_id), set()).add(points.version_of(manifest))

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
                return self._nodes.nearest(vector, where.without(hidden), corpus=corpus.without(hidden), limit=limit)

            return find(nearest)


def _load(docs: Shard) -> dict[Scope, dict[str, Manifest]]:
    live: dict[Scope, dict[str, Manifest]] = {}
    for found in docs.scroll(Where(), ("tenant", "corpus", "manifest")):
        manifest = Manifest.model_validate_json(found["manifest"])
        scope = Scope(tenant=found["tenant"], corpus=found["corpus"])
        live.setdefault(scope, {})[manifest.doc_id] = manifest
    return live
