"""Reading the rs3 and rs4 of corpora with their own labels: a relation hangs on the child, a nucleus says ``span``.

`discorag.rst.formats.rs3` reads the same files with the relations that users see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from xml.etree import ElementTree

from discorag.types.errors import InvariantError
from discorag.types.rst_relations import Nuclearity
from training.parser.gum import GoldSplit


@dataclass(frozen=True)
class Part:
    """A constituent: EDUs ``[start, end)``, and the name with which it hangs in its parent."""

    start: int
    end: int
    label: str


def read_rs3(xml: str) -> tuple[list[str], list[GoldSplit]]:
    """The EDUs' texts and the splits in pre-order, binarised as GUM's ``.dis`` files are.

    Raises:
        InvariantError: It is no tree.
    """
    root = ElementTree.fromstring(xml)
    segments = list(root.iter("segment"))
    order = {s.get("id", ""): i for i, s in enumerate(segments)}
    multinuclear = {r.get("name", "") for r in root.iter("rel") if r.get("type") == "multinuc"}
    below: dict[str, list[ElementTree.Element]] = {}
    for node in (*segments, *root.iter("group")):
        below.setdefault(node.get("parent", ""), []).append(node)
    splits: list[GoldSplit] = []
    tops = [_part(n, below, order, multinuclear, splits) for n in below.get("", [])]
    splits.sort(key=lambda s: (s.start, -s.end))
    if len(tops) != 1 or len(splits) != len(segments) - 1:
        raise InvariantError(f"{len(segments)} segments, {len(splits)} splits and {len(tops)} roots are no tree.")
    return ["".join(s.itertext()) for s in segments], splits


def _part(
    node: ElementTree.Element,
    below: Mapping[str, Sequence[ElementTree.Element]],
    order: Mapping[str, int],
    multinuclear: set[str],
    splits: list[GoldSplit],
) -> Part:
    """The constituent of a node and all that hangs on it; its splits are added."""
    id_, label = node.get("id", ""), node.get("relname", "")
    parts = [_part(n, below, order, multinuclear, splits) for n in below.get(id_, [])]
    names = multinuclear if node.get("type") == "multinuc" else {"span"}
    nuclei = sorted((p for p in parts if p.label in names), key=lambda p: p.start)
    if node.tag == "segment":
        nuclei = [Part(order[id_], order[id_] + 1, "")]
    at = _joined(nuclei, splits)
    satellites = [p for p in parts if p not in nuclei]
    for p in sorted(satellites, key=lambda p: (max(at.start - p.end, p.start - at.end), p.start)):
        left, right, nuclearity = (p, at, Nuclearity.SN) if p.start < at.start else (at, p, Nuclearity.NS)
        splits.append(GoldSplit(left.start, right.start, right.end, nuclearity, p.label))
        at = Part(left.start, right.end, "")
    return replace(at, label=label)


def _joined(nuclei: Sequence[Part], splits: list[GoldSplit]) -> Part:
    """Nuclei joined to the right."""
    end = nuclei[-1].end
    for a, b in pairwise(nuclei):
        splits.append(GoldSplit(a.start, b.start, end, Nuclearity.NN, b.label))
    return replace(nuclei[0], end=end)
