"""Nodes that are drawn side by side under one parent, joined two by two: fig. 10 of Disco-RAG draws its root so.

    ROOT[1-3]
    |--- NUCLEUS[1] Vitamin D helps (N)
    |--- SATELLITE[2] if you are deficient, (S): CONDITION
    |--- SATELLITE[3] a trial found. (S): ATTRIBUTION

A satellite hangs on the node that the analysis relates it to, else on the nearest nucleus, on the left one of two. It
is joined to it as soon as they are neighbours and nothing hangs on the satellite any more; nuclei are joined from the
right, at last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise


@dataclass(frozen=True)
class Node:
    """A node of a drawing, with what was joined to it: zero-based EDUs, half-open; its role (N or S), its relation.

    Example:
        >>> from discorag.discourse.parse.flat import Node, joined
        >>> nodes = [Node(0, 1, "N", ""), Node(1, 2, "S", "CONDITION"), Node(2, 3, "S", "ATTRIBUTION")]
        >>> [(left.start, left.end, right.end) for left, right in joined(nodes, links=[])]
        [(0, 1, 2), (0, 2, 3)]
    """

    start: int
    end: int
    role: str
    relation: str
    number: int = 0

    def holds(self, edu: int) -> bool:
        """Whether the zero-based EDU lies in it."""
        return self.start <= edu < self.end


_Joins = list[tuple[Node, Node]]


def joined(nodes: Sequence[Node], links: Sequence[tuple[int, int]]) -> _Joins:
    """The two sides of every join, bottom up; the last one covers all nodes. What a satellite hangs on is its nucleus.

    Args:
        nodes: Side by side, in text order.
        links: Pairs of EDUs that the analysis relates, the satellite's first. Where they cross, they are not followed.

    Raises:
        ValueError: None of the nodes is a nucleus.
    """
    if all(node.role == "S" for node in nodes):
        raise ValueError(f"EDUs {nodes[0].start + 1}-{nodes[-1].end}: at least one of the sides must be a nucleus.")
    numbered = [replace(node, number=i) for i, node in enumerate(nodes)]
    return _joins(numbered, _heads(numbered, links)) or _joins(numbered, _heads(numbered, []))


def _heads(nodes: Sequence[Node], links: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Satellite -> the node that it hangs on, by their numbers."""
    nuclei = [node.number for node in nodes if node.role == "N"]
    satellites = [node for node in nodes if node.role == "S"]
    heads = {s.number: min(nuclei, key=lambda n: (abs(n - s.number), n)) for s in satellites}
    for satellite in satellites:
        for first, second in links:
            if satellite.holds(first) != satellite.holds(second):
                other = next((n for n in nodes if n.holds(second if satellite.holds(first) else first)), None)
                if other and (other.role == "N" or satellite.holds(first)):
                    heads[satellite.number] = other.number
    return heads


def _joins(nodes: Sequence[Node], heads: Mapping[int, int]) -> _Joins:
    """Empty if satellites are left that are no neighbours of what they hang on."""
    joins: _Joins = []
    left = list(nodes)
    while len(left) > 1:
        awaited = {heads.get(node.number) for node in left}
        pairs = list(enumerate(pairwise(left)))
        at = next((at for at, (a, b) in pairs if _hangs(a, b, heads, awaited) or _hangs(b, a, heads, awaited)), None)
        if at is None and any(node.role == "S" for node in left):
            return []
        at = len(left) - 2 if at is None else at
        a, b = left[at : at + 2]
        core = b if heads.get(a.number) == b.number else a
        joins.append((replace(a, role="N"), b) if core is a else (a, replace(b, role="N")))
        left[at : at + 2] = [replace(core, start=a.start, end=b.end)]
    return joins


def _hangs(satellite: Node, on: Node, heads: Mapping[int, int], awaited: set[int | None]) -> bool:
    return heads.get(satellite.number) == on.number and satellite.number not in awaited
