"""Whether the points of a store are what its entries say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from discorag.store import payload as points
from discorag.store.checksums import number_of, written
from discorag.store.payload import Entry
from discorag.store.protocol import Manifest
from discorag.store.shard import CHUNKS, Point, Shard, Where
from discorag.types.document import Document, Scope
from discorag.types.report import Difference, Report
from discorag.types.vectors import Vectors

_SAME = 1e-3
"""Coordinates of unit vectors that differ by less are equal but for rounding."""
EVERYTHING = Where()


@dataclass(frozen=True)
class Mended:
    """What a store that was damaged cannot tell by itself.

    Args:
        unread: Documents to be read again from their texts, with the manifests that they had.
        trees: Trees to be built again: of which document, by which builder.
        found: What differed, a line each.

    Example:
        >>> sample_of("tides.md", ["Tides rise."]).put_in(store)
        >>> store.mend()
        Mended(unread=(), trees=(), found=())
    """

    unread: tuple[tuple[Scope, Document, Manifest], ...]
    trees: tuple[tuple[Scope, str, str], ...]
    found: tuple[str, ...]

    def also(self, line: str) -> Mended:
        """The same with a further line."""
        return replace(self, found=(*self.found, line))


@dataclass
class Tally:
    """The points of one version: how many, their checksum, and the sum of their dense vectors.

    Example:
        >>> from discorag.store.check import Tally
        >>> from discorag.store.shard import Point
        >>> tally = Tally()
        >>> tally.add(Point("id", np.ones(8, dtype=np.float32), {"tenant": "ann"}))
        >>> tally.count, len(tally.content)
        (1, 32)
    """

    count: int = 0
    total: int = 0
    vectors: Vectors = field(default_factory=lambda: np.zeros(1, np.float32))

    def add(self, point: Point, *, exact: bool = True) -> None:
        """Count a point of a shard that is `Shard.exact` or not."""
        self.count += 1
        self.total += number_of(point, exact=exact)
        if point.space == CHUNKS:
            self.vectors = self.vectors + point.dense

    @property
    def content(self) -> str:
        """The checksum."""
        return written(self.total)

    def is_not(self, count: int, content: str) -> str:
        """In which way these are not so many points with this checksum; nothing if they are, or it is not known."""
        if self.count != count:
            return f"{self.count} of {count} are there"
        return "" if content in ("", self.content) else "not as they were written"


def tallies(nodes: Shard) -> dict[str, Tally]:
    """Of all chunks and nodes, by version."""
    found: dict[str, Tally] = {}
    for point in nodes.points(EVERYTHING):
        found.setdefault(str(point.payload.get("version")), Tally()).add(point, exact=nodes.exact)
    return found


def inspect(docs: Shard, nodes: Shard, kept: Iterable[tuple[Scope, Entry]]) -> Report:
    """Compare every point with the live entries; reads all of the store."""
    kept = sorted(kept, key=lambda k: (k[0].tenant, k[0].corpus, k[1].manifest.uri))
    found = tallies(nodes)
    stored = {point.id: point for point in docs.points(EVERYTHING)}
    differences = [
        d for scope, entry in kept for d in _of(scope, entry, stored.pop(entry.manifest.doc_id, None), found)
    ]
    live = {version for _, entry in kept for version in entry.keys}
    over = sum(tally.count for version, tally in found.items() if version not in live) + len(stored)
    if over:
        differences.append(Difference(part="leftovers", note=f"{over} points belong to no document"))
    entries = [entry for _, entry in kept]
    return Report(
        documents=len(entries),
        chunks=sum(entry.manifest.chunks for entry in entries),
        trees=sum(len(entry.trees) for entry in entries),
        nodes=sum(part.nodes for entry in entries for part in entry.trees.values()),
        differences=tuple(differences),
    )


def _of(scope: Scope, entry: Entry, stored: Point | None, found: dict[str, Tally]) -> Iterator[Difference]:
    manifest = entry.manifest
    about = {"tenant": scope.tenant, "corpus": scope.corpus, "doc_id": manifest.doc_id, "uri": manifest.uri}
    chunks = found.get(points.version_of(manifest), Tally())
    if note := chunks.is_not(manifest.chunks, entry.content):
        yield Difference(part="chunks", note=note, **about)
    elif note := _is_not(stored, scope, entry, chunks):
        yield Difference(part="document", note=note, **about)
    for builder, part in entry.trees.items():
        if note := found.get(part.key, Tally()).is_not(part.nodes, part.content):
            yield Difference(part="tree", builder=builder, note=note, **about)


def _is_not(stored: Point | None, scope: Scope, entry: Entry, chunks: Tally) -> str:
    """In which way the point of a document is not the one of this entry."""
    if stored is None:
        return "its point is missing"
    if (stored.payload.get("tenant"), stored.payload.get("corpus")) != (scope.tenant, scope.corpus):
        return "its point has another scope"
    try:
        same = points.entry_from(stored.payload) == entry and points.document_from(stored.payload)
    except (KeyError, ValueError):
        return "its point cannot be read"
    if not same or same.content_hash != entry.manifest.content_hash:
        return "its point is not as it was written"
    mean = chunks.vectors / max(float(np.linalg.norm(chunks.vectors)), 1e-12)
    return "" if np.allclose(mean, stored.dense, atol=_SAME) else "its vector is not the mean of its chunks'"
