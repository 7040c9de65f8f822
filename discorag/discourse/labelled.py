"""Trees with the labels of their file, before those become `Relation`: nodes of any number of children, made binary."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from discorag.schema.discourse import Nuclearity
from discorag.schema.errors import InvariantError


@dataclass(frozen=True)
class LabelledSplit:
    """An inner node: units ``[start, mid)`` and ``[mid, end)``, zero-based, with the file's label."""

    start: int
    mid: int
    end: int
    nuclearity: Nuclearity
    label: str


class Part(NamedTuple):
    """A child of a node: EDUs ``[start, end)``, the name of the relation to its parent, and whether it is a nucleus."""

    start: int
    end: int
    name: str
    is_nucleus: bool


def join(parts: Sequence[Part]) -> Iterator[LabelledSplit]:
    """The splits of a node with these children, which are in the text's order.

    Nuclei are joined to the right, then satellites from the nearest (in EDUs), left before right.

    Raises:
        InvariantError: Nuclei are not neighbours, or a satellite is not next to what it is joined to.
    """
    nuclei = [part for part in parts if part.is_nucleus]
    if not nuclei:
        return
    start, end = low, high = nuclei[0].start, nuclei[-1].end
    for left, right in pairwise(nuclei):
        if left.end != right.start:
            raise InvariantError(f"Units {left.start + 1} to {end} are joined, but are not neighbours.")
        yield LabelledSplit(left.start, left.end, end, Nuclearity.NN, right.name)
    satellites = (part for part in parts if not part.is_nucleus)
    for part in sorted(satellites, key=lambda s: (max(start - s.end, s.start - end), s.start)):
        if low != part.end and high != part.start:
            raise InvariantError(f"What begins at unit {part.start + 1} is joined to units that are not next to it.")
        if part.start < start:
            yield LabelledSplit(part.start, low, high, Nuclearity.SN, part.name)
        else:
            yield LabelledSplit(low, high, part.end, Nuclearity.NS, part.name)
        low, high = min(low, part.start), max(high, part.end)
