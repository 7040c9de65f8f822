"""Original Parseval: how many inner nodes of the gold trees a parser finds (Morey et al. 2017), micro-averaged.

A node is known by its characters, so that trees over different EDUs compare. Span counts nodes, Nuclearity also asks
for the same nuclei, Relation for the same label, Full for both. Counts of documents are added up before dividing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from discorag.schema.values import Span

MEASURES = ("span", "nuclearity", "relation", "full", "seg")


class Node(NamedTuple):
    """An inner node: characters ``[start, end)`` of the text, its nuclearity and its label."""

    start: int
    end: int
    nuclearity: str
    label: str


def count_nodes(found: Iterable[Node], gold: Iterable[Node]) -> Counter[str]:
    """The nodes of both trees of a document, and those of one that are right by each measure."""
    has, wanted = ({(n.start, n.end): n for n in nodes} for nodes in (found, gold))
    counts = Counter(nodes=len(has) + len(wanted))
    for at in has.keys() & wanted.keys():
        nuclei, label = has[at].nuclearity == wanted[at].nuclearity, has[at].label == wanted[at].label
        counts.update(span=1, nuclearity=nuclei, relation=label, full=nuclei and label)
    return counts


def count_starts(found: Sequence[Span], gold: Sequence[Span]) -> Counter[str]:
    """The starts of both documents' EDUs but the first, and those of one that are right."""
    has, wanted = ({edu.start for edu in edus[1:]} for edus in (found, gold))
    return Counter(starts=len(has) + len(wanted), seg=len(has & wanted))


def f1(counts: Counter[str]) -> dict[str, float]:
    """F1 in per cent by measure; without ``seg``, that of the EDU starts, where the EDUs are given."""
    totals = dict.fromkeys(MEASURES[:-1], counts["nodes"]) | ({"seg": counts["starts"]} if counts["starts"] else {})
    return {measure: 200 * counts[measure] / max(total, 1) for measure, total in totals.items()}
