"""Checksums of points, to tell later whether what is read is what was written."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
from xxhash import xxh3_128_intdigest

from discorag.store.shard import FENCE, Point

_ALL = 1 << 128


def checksum(points: Iterable[Point], *, exact: bool) -> str:
    """Of a set of points, in any order: 32 hexadecimal digits. ``exact``: `Shard.exact` of where they are."""
    return written(sum(number_of(point, exact=exact) for point in points))


def number_of(point: Point, *, exact: bool) -> int:
    """Of one point; that of a set is `written` of their sum."""
    payload = {key: value for key, value in point.payload.items() if value is not None and key != FENCE}
    terms, weights = point.sparse or ([], [])
    order = np.argsort(terms)
    parts = (
        f"{point.id} {point.space.dense}".encode(),
        json.dumps(payload, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        np.asarray(point.dense, "<f4").tobytes() if exact else b"",
        np.asarray(terms, "<u4")[order].tobytes(),
        np.asarray(weights, "<f4")[order].tobytes(),
    )
    return xxh3_128_intdigest(b"".join(len(part).to_bytes(8, "big") + part for part in parts))


def written(total: int) -> str:
    """A sum of numbers as 32 hexadecimal digits."""
    return f"{total % _ALL:032x}"
