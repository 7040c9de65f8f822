"""The live entries of shards that other processes write to at the same time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from time import monotonic
from uuid import uuid4

from discorag.store import payload as points
from discorag.store.catalogue import Nearest, restated, scoped_entries
from discorag.store.payload import Entry
from discorag.store.protocol import Hit
from discorag.store.server.leases import Leases, late
from discorag.store.shard import FENCE, OWNER, Point, SharedShard, Space, VersionedShard, Where, write
from discorag.text.terms import SparseVector
from discorag.types.document import Document, Scope
from discorag.types.errors import StoreError
from discorag.types.vectors import Vectors

ATTEMPTS = 50
"""How often a ranking, and a search made of rankings, is made again because what it met was replaced meanwhile."""


@dataclass(frozen=True)
class State:
    """A document between two publications.

    Args:
        version: The live version of its chunks.
        revision: Name of the publication: the same versions published again are another state.
        since: When this process had first seen it, in seconds of the monotonic clock.

    Example:
        >>> from discorag.store.server.shared import State
        >>> State(frozenset({"v1"}), "first", since=0.0) == State(frozenset({"v1"}), "second", since=0.0)
        False
    """

    version: str
    revision: str
    since: float


class SharedCatalogue:
    """Entries are read when they are asked for; opening changes nothing.

    Chunks of a version are all there from before it is published until after another one is. So a ranking is
    right if every document that it met was in one state from before it was asked for until after. A state carries a
    name that never comes back: it is enough that it was seen before and is seen again after. Otherwise the ranking is
    asked for once more; the first that meets a document always is.

    Document frequencies of BM25 count hidden chunks that a search did not meet: those of a document that is just being
    replaced.

    Example:
        >>> from discorag.store.server.leases import Leases
        >>> from discorag.store.server.shared import SharedCatalogue
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> piece.put_in(store)
        >>> leases = Leases(shards[0], lambda doc_id: 0)
        >>> [entry.manifest.uri for entry in SharedCatalogue(*shards, leases).entries(piece.scope)]
        ['tides.md']
    """

    def __init__(self, docs: SharedShard, nodes: VersionedShard, leases: Leases) -> None:
        self.lock = nullcontext()
        self._docs = docs
        self._nodes = nodes
        self._leases = leases
        self._seen: dict[str, State] = {}  # document id -> its state when last looked at

    def entries(self, scope: Scope, doc_ids: Iterable[str] | None = None) -> list[Entry]:
        """See `Catalogue.entries`."""
        if doc_ids is None:
            return [points.entry_from(p) for p in self._docs.scroll(points.of_scope(scope), points.ENTRY_FIELDS)]
        ids = [d for d in dict.fromkeys(doc_ids) if points.is_uuid(d)]
        found = self._docs.retrieve(ids, (*OWNER, *points.ENTRY_FIELDS))
        owner = (scope.tenant, scope.corpus)
        return [points.entry_from(p) for p in found.values() if tuple(p[f] for f in OWNER) == owner]

    def under(self, scope: Scope, folder: str) -> list[Entry]:
        """See `Catalogue.under`."""
        where = replace(points.of_scope(scope), below=folder)
        return [points.entry_from(p) for p in self._docs.scroll(where, points.ENTRY_FIELDS)]

    def has(self, scope: Scope, folder: str = "") -> bool:
        """See `Catalogue.has`."""
        return bool(self._docs.scroll(replace(points.of_scope(scope), below=folder), OWNER, limit=1))

    def entry(self, scope: Scope, doc_id: str) -> Entry | None:
        """See `Catalogue.entry`."""
        return next(iter(self.entries(scope, [doc_id])), None)

    def of_tenant(self, tenant: str) -> list[tuple[Scope, Entry]]:
        """See `Catalogue.of_tenant`."""
        return scoped_entries(self._docs, Where((("tenant", (tenant,)),)))

    def all(self) -> list[tuple[Scope, Entry]]:
        """See `Catalogue.all`."""
        return scoped_entries(self._docs)

    def document(self, scope: Scope, doc_id: str) -> Document:
        """See `Catalogue.document`."""
        return points.document_from(self._docs.retrieve([doc_id])[doc_id])

    def restate(self, scope: Scope, entry: Entry) -> bool:
        """See `Catalogue.restate`."""
        if found := restated(self._nodes, scope, entry, self.document(scope, entry.manifest.doc_id)):
            with self.lease(scope, entry.manifest.doc_id):
                self.publish(scope, *found)
        return found is not None

    def withhold(self, scope: Scope, doc_id: str) -> None:
        """Nothing to do: its chunks are missing, which whoever asks for them is told."""

    def clear(self) -> None:
        """Nothing to do: these may be the points of a document that another process is just writing."""

    def claim(self, scope: Scope, doc_id: str) -> AbstractContextManager[bool]:
        """See `Catalogue.claim`."""
        return self._leases.claim(doc_id)

    @contextmanager
    def lease(self, scope: Scope, doc_id: str) -> Generator[None]:
        """See `Catalogue.lease`. From here on no earlier holder can change what is live.

        Raises:
            DocumentTakenError: Another process writes it all the time.
        """
        with self._leases.held(doc_id) as fence:
            self._docs.set_payload_where({FENCE: fence}, _until(scope, doc_id, fence))
            yield

    def begin(self, scope: Scope, doc_id: str, version: str = "") -> None:
        """Nothing to do: what is not live is hidden."""

    def write(self, scope: Scope, doc_id: str, made: Iterable[Point]) -> None:
        """See `Catalogue.write`. What is not live is hidden."""
        fence = {FENCE: self._leases.fence(doc_id)}
        write(self._nodes, (replace(p, payload={**p.payload, **fence}) for p in made), self.lock)

    def publish(self, scope: Scope, entry: Entry, point: Point | None = None) -> None:
        """See `Catalogue.publish`.

        Raises:
            DocumentTakenError: Another process has taken the lease over.
        """
        doc_id, revision = entry.manifest.doc_id, str(uuid4())
        fence = self._leases.fence(doc_id)
        stamp = {"revision": revision, FENCE: fence}
        if point:
            self._docs.upsert_where([replace(point, payload={**point.payload, **stamp})], Where(fence=fence))
        else:
            self._docs.set_payload_where({**entry.payload, **stamp}, _until(scope, doc_id, fence))
        if self._docs.agreed([doc_id], ["revision"]).get(doc_id, {}).get("revision") != revision:
            raise late(doc_id)

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """See `Catalogue.withdraw`. Raises as `publish`."""
        found = self.entry(scope, doc_id) is not None
        self._docs.delete(_until(scope, doc_id, self._leases.fence(doc_id)))
        if self._docs.agreed([doc_id], OWNER).get(doc_id) == {"tenant": scope.tenant, "corpus": scope.corpus}:
            raise late(doc_id)
        return found

    def sweep(self, scope: Scope, doc_id: str, live: Collection[str], space: Space | None = None) -> None:
        """See `Catalogue.sweep`. What a later holder has written stays."""
        self._nodes.delete(_until(scope, doc_id, self._leases.fence(doc_id)).without(tuple(live)), space)

    def search(self, find: Callable[[Nearest], list[Hit]]) -> list[Hit]:
        """See `Catalogue.search`.

        Raises:
            StoreError: Documents that were met were replaced during each of `ATTEMPTS` attempts.
        """
        for _ in range(ATTEMPTS):
            view = _View(self._nodes, self.states)
            hits = find(view.nearest)
            if view.is_steady():
                return hits
        raise _restless()

    def states(self, doc_ids: Collection[str]) -> dict[str, State]:
        """The present states of those of these documents that exist."""
        if not doc_ids:
            return {}
        found = self._docs.scroll(Where((("doc_id", tuple(doc_ids)),)), ("doc_id", "version", "revision"))
        now = monotonic()
        states: dict[str, State] = {}
        for p in found:
            old = self._seen.get(p["doc_id"])
            same = old is not None and old.revision == p["revision"]
            states[p["doc_id"]] = old if old and same else State(p["version"], p["revision"], now)
        self._seen |= states
        return states


def latest(docs: SharedShard, doc_id: str) -> int:
    """The number of the lease under which a document was last changed; 0 if there is none."""
    return int(docs.agreed([doc_id], [FENCE]).get(doc_id, {}).get(FENCE) or 0)


def _until(scope: Scope, doc_id: str, fence: int) -> Where:
    """What was written of a document, but not by later holders of its lease."""
    return replace(points.of_document(scope, doc_id), fence=fence)


class _View:
    """One attempt of a search: the documents that its rankings met, and in which state; None: in none."""

    def __init__(self, nodes: VersionedShard, states: Callable[[Collection[str]], Mapping[str, State]]) -> None:
        self._nodes = nodes
        self._states = states
        self._met: dict[str, State | None] = {}
        self._met_last: set[str] = set()
        self._hidden: set[str] = set()  # versions that are not live
        self._steady = True

    def nearest(self, vector: Vectors | SparseVector, where: Where, *, corpus: Where, limit: int) -> list[Hit]:
        """See `Nearest`. Asks again without the hidden versions met, until what it meets is live and stays so."""
        for _ in range(ATTEMPTS):
            hidden, asked = tuple(sorted(self._hidden)), monotonic()
            shown, counted = where.without(hidden), corpus.without(hidden)
            found = self._nodes.nearest_versions(vector, shown, corpus=counted, limit=limit)
            versions = self._hidden | {version for version, _ in found}
            docs = {points.document_of(version) for version in versions}
            states = self._states(docs)
            self._hidden = versions.difference(state.version for state in states.values())
            if self._hidden == set(hidden) and all(state.since <= asked for state in states.values()):
                self._meet(docs, states)
                return [hit for _, hit in found]
        raise _restless()

    def _meet(self, docs: set[str], states: Mapping[str, State]) -> None:
        for doc_id in docs:
            state = states.get(doc_id)
            self._steady &= self._met.setdefault(doc_id, state) == state
        self._met_last = docs

    def is_steady(self) -> bool:
        """Whether every ranking met its documents in one state, which they are still in after the last ranking."""
        self._meet(rest := self._met.keys() - self._met_last, self._states(rest))
        return self._steady


def _restless() -> StoreError:
    return StoreError("Documents are being replaced faster than they can be searched.", hint="Try again.")
