"""Trees in the ``.dis`` format of GUM and RST-DT, binarised.

Nuclearity and relation are given on the children: a satellite names its relation, and nuclei of a multinuclear relation
all name it. Nuclei are joined to the right, then satellites from the nearest (in EDUs), left before right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from discorag.schema.discourse import Nuclearity
from discorag.schema.errors import InvariantError

_TOKEN = re.compile(
    r"""  \(\s*(?P<role>Root|Nucleus|Satellite)\b
        | \(\s*rel2par\s+(?P<name>[^\s()]+)\s*\)
        | \(\s*text\s+_!(?P<text>.*?)_!\s*\)
        | \(\s*(?:span|leaf)\b[\s\d]*\)
        | (?P<close>\))""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class GoldSplit:
    """An inner node of a gold tree: units ``[start, mid)`` and ``[mid, end)``, with the file's label."""

    start: int
    mid: int
    end: int
    nuclearity: Nuclearity
    label: str


class _Part(NamedTuple):
    """A constituent: EDUs ``[start, end)``, and the name of the relation to its parent."""

    start: int
    end: int
    name: str


@dataclass
class _Node:
    """A node whose bracket is open."""

    role: str
    name: str = ""
    nuclei: list[_Part] = field(default_factory=list[_Part])
    satellites: list[_Part] = field(default_factory=list[_Part])


def read_dis(dis: str) -> tuple[list[str], list[GoldSplit]]:
    """The EDUs' texts, and the splits with the file's labels, in pre-order; span and leaf numbers are ignored.

    Raises:
        InvariantError: It is not a tree.
    """
    leaves: list[str] = []
    splits: list[GoldSplit] = []
    stack = [_Node("")]
    for match in _TOKEN.finditer(dis):
        node = stack[-1]
        if match["role"]:
            stack.append(_Node(match["role"]))
        elif match["name"]:
            node.name = match["name"]
        elif match["text"] is not None:
            leaves.append(match["text"])
            node.nuclei.append(_Part(len(leaves) - 1, len(leaves), ""))
        elif match["close"] and len(stack) > 1 and node.nuclei:
            found = list(_join(node))
            splits += found
            ends = [(part.start, part.end) for part in (*node.nuclei, *node.satellites)]
            part = _Part(min(ends)[0], max(end for _, end in ends), node.name)
            stack.pop()
            (stack[-1].satellites if node.role == "Satellite" else stack[-1].nuclei).append(part)
    if len(stack) != 1 or [part[:2] for part in stack[0].nuclei] != [(0, len(leaves))]:
        raise InvariantError("This is not a .dis tree.", hint="Check its brackets, and that texts are in _!...!_.")
    return leaves, sorted(splits, key=lambda split: (split.start, -split.end))


def _join(node: _Node) -> Iterator[GoldSplit]:
    """The splits of one node."""
    nuclei = node.nuclei
    low, high = start, end = nuclei[0].start, nuclei[-1].end
    for left, right in pairwise(nuclei):
        yield _split(left.start, left.end, right.start, end, Nuclearity.NN, right.name)
    for part in sorted(node.satellites, key=lambda s: (max(start - s.end, s.start - end), s.start)):
        if part.start < start:
            yield _split(part.start, part.end, low, high, Nuclearity.SN, part.name)
        else:
            yield _split(low, high, part.start, part.end, Nuclearity.NS, part.name)
        low, high = min(low, part.start), max(high, part.end)


def _split(start: int, mid: int, then: int, end: int, nuclearity: Nuclearity, label: str) -> GoldSplit:
    if mid != then:
        raise InvariantError(f"Units {start + 1} to {end} are joined, but are not neighbours.")
    return GoldSplit(start, mid, end, nuclearity, label)
