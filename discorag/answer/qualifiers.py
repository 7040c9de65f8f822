"""Sentences that must not be told alone: a claim without who makes it, a finding without when it holds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from discorag.answer.compression import PROTECTED
from discorag.claims.units import UnitTable
from discorag.types.chunk import Chunk
from discorag.types.rst_relations import Nuclearity
from discorag.types.rst_tree import Split


def qualifiers(chunks: tuple[Chunk, ...], table: UnitTable) -> dict[int, tuple[int, ...]]:
    """For each unit of the table the units that qualify it: satellites of a relation that changes its meaning.

    Inside a sentence there is nothing to do, since sentences are told whole.
    """
    found: dict[int, list[int]] = {}
    for number, chunk in enumerate(chunks, start=1):
        first = table.index(number, 1)
        if first is None:
            continue
        for nucleus, satellite in _pairs(chunk):
            found.setdefault(first + nucleus, []).append(first + satellite)
    return {i: tuple(dict.fromkeys(others)) for i, others in found.items()}


def _pairs(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Zero-based sentences: a nucleus's head, and the head of a satellite that changes what it means."""
    if chunk.tree is None:
        return
    starts = [s.start for s in chunk.sentences]
    for split in chunk.tree.splits:
        if split.relation in PROTECTED and split.nuclearity is not Nuclearity.NN:
            heads = (chunk.tree.head(*side) for side in _sides(split))
            nucleus, satellite = (bisect_right(starts, chunk.tree.edus[h].start) - 1 for h in heads)
            if nucleus != satellite:
                yield nucleus, satellite


def _sides(split: Split) -> tuple[tuple[int, int], tuple[int, int]]:
    """The nucleus's EDUs and the satellite's."""
    left, right = (split.start, split.mid), (split.mid, split.end)
    return (left, right) if split.nuclearity is Nuclearity.NS else (right, left)
