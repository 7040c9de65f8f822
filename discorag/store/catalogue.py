"""Which version of each document is live; searches that see no other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from threading import RLock
from typing import Protocol

import numpy as np

from discorag.store import payload as points
from discorag.store.checksums import checksum
from discorag.store.disk.archive import Archive, Kept
from discorag.store.payload import Entry
from discorag.store.protocol import Corpus, Hit, Manifest
from discorag.store.shard import Point, Shard, Space, Where, write
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
    """What is live of each document: `OwnedCatalogue` or `discorag.store.server.shared.SharedCatalogue`."""

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

    def under(self, scope: Scope, folder: str) -> list[Entry]:
        """Those of the scope whose uri begins with this, in no order."""
        ...

    def has(self, scope: Scope, folder: str = "") -> bool:
        """Whether `under` finds any."""
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

    def claim(self, scope: Scope, doc_id: str) -> AbstractContextManager[bool]:
        """Whether no other process reads this document while the block lasts; does not wait."""
        ...

    def lease(self, scope: Scope, doc_id: str) -> AbstractContextManager[None]:
        """Around every change of a document: no other process makes one; waits for it."""
        ...

    def begin(self, scope: Scope, doc_id: str, version: str = "") -> None:
        """Points of this document will be written or deleted; chunks of this version are hidden until it is live."""
        ...

    def write(self, scope: Scope, doc_id: str, made: Iterable[Point]) -> None:
        """Write chunks or nodes of a document that are not published yet."""
        ...

    def publish(self, scope: Scope, entry: Entry, point: Point | None = None) -> None:
        """Make this entry the live one by writing its document's point; without one, only the trees change."""
        ...

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """Make no version live; whether one was."""
        ...

    def sweep(self, scope: Scope, doc_id: str, live: Collection[str], space: Space | None = None) -> None:
        """Delete the chunks and nodes of a document but for these versions, or those of one space.

        With it what was begun with this document is done.
        """
        ...

    def search(self, find: Callable[[Nearest], list[Hit]]) -> list[Hit]:
        """What ``find`` finds, all of it in one state of every document that it meets."""
        ...


class OwnedCatalogue:
    """Entries of shards that nothing else writes to.

    Nothing is ever hidden but what was written or replaced since opening.

    Args:
        docs: Shard of the documents.
        nodes: Shard of the chunks and nodes.
        archive: The documents on disk, which is asked for them; None: they are remembered.

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
        self._kept = archive or Remembered(docs)
        self._hidden: dict[tuple[Scope, str], set[str]] = {}  # document -> versions written, but not live
        self.withheld: set[tuple[Scope, str]] = set()
        self.lock = RLock()  # taken before the archive's own
        if archive is None:  # in memory
            self.clear()

    def all(self) -> list[tuple[Scope, Entry]]:
        """See `Catalogue.all`."""
        return [(kept.scope, kept.entry) for kept in self._kept.kept()]

    def finish(self) -> bool:
        """On opening: make an end of writes that failed or that a crash cut off, with what was live before them.

        Returns:
            Whether what was live is there.
        """
        sound = True
        for scope, doc_id in self._kept.begun():
            entry = self.entry(scope, doc_id)
            if entry and not self.restate(scope, entry):
                sound = False
                continue
            if entry is None:
                self._docs.delete(points.of_document(scope, doc_id))
            self.sweep(scope, doc_id, entry.keys if entry else ())
        return sound

    def restate(self, scope: Scope, entry: Entry) -> bool:
        """See `Catalogue.restate`."""
        if found := restated(self._nodes, scope, entry, self.document(scope, entry.manifest.doc_id)):
            self.publish(scope, *found)
        return found is not None

    def withhold(self, scope: Scope, doc_id: str) -> None:
        """See `Catalogue.withhold`. It stays in the archive."""
        with self.lock:
            self.withheld.add((scope, doc_id))

    def document(self, scope: Scope, doc_id: str) -> Document:
        """See `Catalogue.document`."""
        return self._kept.document(scope, doc_id)

    def clear(self) -> None:
        """See `Catalogue.clear`."""
        entries = {entry.manifest.doc_id: (scope, entry) for scope, entry in self.all()}
        live = tuple(key for _, entry in entries.values() for key in entry.keys)
        self._nodes.delete(Where(none=(("version", live),)))
        for found in [p.payload for p in self._docs.points(Where()) if p.id not in entries]:
            self._docs.delete(Where((("doc_id", (found["doc_id"],)),)))
            if found["doc_id"] in entries:  # it is there under another id
                self.restate(*entries[found["doc_id"]])

    def entries(self, scope: Scope, doc_ids: Iterable[str] | None = None) -> list[Entry]:
        """See `Catalogue.entries`."""
        with self.lock:
            return self._shown(scope, self._kept.entries(scope, doc_ids))

    def under(self, scope: Scope, folder: str) -> list[Entry]:
        """See `Catalogue.under`."""
        with self.lock:
            return self._shown(scope, self._kept.under(scope, folder))

    def has(self, scope: Scope, folder: str = "") -> bool:
        """See `Catalogue.has`."""
        with self.lock:
            return bool(self._shown(scope, self._kept.under(scope, folder, limit=1 + len(self.withheld))))

    def _shown(self, scope: Scope, entries: Iterable[Entry]) -> list[Entry]:
        return [e for e in entries if (scope, e.manifest.doc_id) not in self.withheld]

    def entry(self, scope: Scope, doc_id: str) -> Entry | None:
        """See `Catalogue.entry`."""
        return next(iter(self.entries(scope, [doc_id])), None)

    def of_tenant(self, tenant: str) -> list[tuple[Scope, Entry]]:
        """See `Catalogue.of_tenant`."""
        with self.lock:
            kept = [(k.scope, k.entry) for k in self._kept.kept() if k.scope.tenant == tenant]
            return [(scope, entry) for scope, entry in kept if self._shown(scope, [entry])]

    def _live_versions(self, scope: Scope, doc_ids: Iterable[str]) -> set[str]:
        return {points.version_of(entry.manifest) for entry in self.entries(scope, doc_ids)}

    def claim(self, scope: Scope, doc_id: str) -> AbstractContextManager[bool]:
        """There is no other process."""
        return nullcontext(True)

    def lease(self, scope: Scope, doc_id: str) -> AbstractContextManager[None]:
        """There is no other process."""
        return nullcontext()

    def begin(self, scope: Scope, doc_id: str, version: str = "") -> None:
        """See `Catalogue.begin`."""
        self._kept.begin(scope, doc_id)
        with self.lock:
            if version and version not in self._live_versions(scope, [doc_id]):
                self._hidden.setdefault((scope, doc_id), set()).add(version)

    def write(self, scope: Scope, doc_id: str, made: Iterable[Point]) -> None:
        """See `Catalogue.write`."""
        write(self._nodes, iter(made), self.lock)

    def publish(self, scope: Scope, entry: Entry, point: Point | None = None) -> None:
        """See `Catalogue.publish`."""
        doc_id = entry.manifest.doc_id
        with self.lock:
            before = self._live_versions(scope, [doc_id])
            with self._kept.transaction():
                self._kept.put(scope, entry, str(point.payload["document"]) if point else None)
                if point:
                    self._docs.upsert([point])
                else:
                    self._docs.set_payload(doc_id, entry.payload)
            self._hide(scope, doc_id, before - {points.version_of(entry.manifest)}, entry)
            self.withheld.discard((scope, doc_id))

    def withdraw(self, scope: Scope, doc_id: str) -> bool:
        """See `Catalogue.withdraw`."""
        with self.lock:
            if self.entry(scope, doc_id) is None:
                return False
            before = self._live_versions(scope, [doc_id])
            with self._kept.transaction():
                self._kept.remove(scope, doc_id)
                self._docs.delete(points.of_document(scope, doc_id))
            self._hide(scope, doc_id, before, None)
            return True

    def _hide(self, scope: Scope, doc_id: str, before: set[str], live: Entry | None) -> None:
        """Hide what was live of a document, or begun with it, but for what is live now."""
        shown = {points.version_of(live.manifest)} if live else set[str]()
        if versions := (self._hidden.pop((scope, doc_id), set[str]()) | before) - shown:
            self._hidden[scope, doc_id] = versions

    def sweep(self, scope: Scope, doc_id: str, live: Collection[str], space: Space | None = None) -> None:
        """See `Catalogue.sweep`."""
        with self.lock:
            self._nodes.delete(points.of_document(scope, doc_id).without(tuple(live)), space)
            if space is None:
                self._hidden.pop((scope, doc_id), None)
            done = (scope, doc_id) not in self._hidden
        if done:
            self._kept.end(scope, doc_id)

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


class Remembered:
    """What an archive is asked for, of shards in memory.

    Args:
        docs: Shard of the documents.

    Example:
        >>> from discorag.store.catalogue import Remembered
        >>> piece = sample_of("tides.md", ["Tides rise."])
        >>> piece.put_in(store)
        >>> [entry.manifest.uri for entry in Remembered(shards[0]).under(piece.scope, "tides")]
        ['tides.md']
    """

    def __init__(self, docs: Shard) -> None:
        self._docs = docs
        self._live: dict[Scope, dict[str, Entry]] = {}
        self._changes: list[tuple[Scope, str, Entry | None]] = []
        with self.transaction():
            for kept in self.kept():
                self.put(kept.scope, kept.entry, None)

    def kept(self) -> Iterator[Kept]:
        """See `Archive.kept`."""
        yield from (Kept(scope, entry) for scope, entry in scoped_entries(self._docs))

    def document(self, scope: Scope, doc_id: str) -> Document:
        """See `Archive.document`."""
        return points.document_from(self._docs.retrieve([doc_id])[doc_id])

    def entries(self, scope: Scope, doc_ids: Iterable[str] | None = None) -> list[Entry]:
        """See `Archive.entries`."""
        live = self._live.get(scope, {})
        return [live[d] for d in (live if doc_ids is None else dict.fromkeys(doc_ids)) if d in live]

    def under(self, scope: Scope, folder: str, limit: int = -1) -> list[Entry]:
        """See `Archive.under`."""
        found = (e for e in self.entries(scope) if e.manifest.uri.startswith(folder))
        return list(islice(found, limit if limit >= 0 else None))

    def put(self, scope: Scope, entry: Entry, document: str | None) -> None:
        """See `Archive.put`."""
        self._changes.append((scope, entry.manifest.doc_id, entry))

    def remove(self, scope: Scope, doc_id: str) -> None:
        """See `Archive.remove`."""
        self._changes.append((scope, doc_id, None))

    def begin(self, scope: Scope, doc_id: str) -> None:
        """Nothing to do: what is in memory does not outlive this process."""

    def end(self, scope: Scope, doc_id: str) -> None:
        """Nothing to do."""

    def begun(self) -> list[tuple[Scope, str]]:
        """Nothing was begun before."""
        return []

    @contextmanager
    def transaction(self) -> Generator[None]:
        """See `Archive.transaction`."""
        self._changes.clear()
        yield
        for scope, doc_id, entry in self._changes:
            live = self._live.setdefault(scope, {})
            live.pop(doc_id, None)
            if entry:
                live[doc_id] = entry


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
