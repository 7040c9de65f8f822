"""Trees in the ``.dis`` format of GUM and RST-DT, binarised.

Nuclearity and relation are given on the children: a satellite names its relation, and nuclei of a multinuclear relation
all name it. Nuclei are joined to the right, then satellites from the nearest (in EDUs), left before right.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """A constituent: EDUs ``[start, end)``, its role, and the name of the relation to its parent."""

    start: int
    end: int
    role: str
    name: str


def read_dis(dis: str) -> tuple[list[str], list[GoldSplit]]:
    """The EDUs' texts, and the splits with the file's labels, in pre-order; span and leaf numbers are ignored.

    Raises:
        InvariantError: It is not a tree.
    """
    leaves: list[str] = []
    splits: list[GoldSplit] = []
    tokens = _TOKEN.finditer(dis)

    def read(role: str) -> _Part:
        """The constituent whose bracket was opened last."""
        start, name, parts = len(leaves), "", list[_Part]()
        for token in tokens:
            if token["role"]:
                parts.append(read(token["role"]))
            elif token["name"]:
                name = token["name"]
            elif token["text"] is not None:
                leaves.append(token["text"])
            elif token["close"]:
                break
        splits.extend(_join(parts))
        return _Part(start, len(leaves), role, name)

    read("")
    splits.sort(key=lambda split: (split.start, -split.end))
    if not leaves or len(splits) != len(leaves) - 1 or next(tokens, None):
        raise InvariantError("This is not a .dis tree.", hint="Check its brackets, and that texts are in _!...!_.")
    return leaves, splits


def _join(parts: Sequence[_Part]) -> Iterator[GoldSplit]:
    """The splits of a node with these children, which are in the text's order."""
    nuclei = [part for part in parts if part.role != "Satellite"]
    if not nuclei:
        return
    start, end = low, high = nuclei[0].start, nuclei[-1].end
    for left, right in pairwise(nuclei):
        if left.end != right.start:
            raise InvariantError(f"Units {left.start + 1} to {end} are joined, but are not neighbours.")
        yield GoldSplit(left.start, left.end, end, Nuclearity.NN, right.name)
    satellites = (part for part in parts if part.role == "Satellite")
    for part in sorted(satellites, key=lambda s: (max(start - s.end, s.start - end), s.start)):
        if part.start < start:
            yield GoldSplit(part.start, low, high, Nuclearity.SN, part.name)
        else:
            yield GoldSplit(low, high, part.end, Nuclearity.NS, part.name)
        low, high = min(low, part.start), max(high, part.end)
