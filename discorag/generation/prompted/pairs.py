"""Labels of ordered pairs of chunks, as Disco-RAG's figs. 11 and 17 have them written: a line for each pair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations

PAIR_TOKENS = 24
"""Output tokens allowed for one line."""
FEWEST = 0.5
"""Share of the pairs that must have a line; the rest is taken for unrelated, and counted."""

_LINE = re.compile(r"CHUNK\[(\d{1,4})\]\s*->\s*CHUNK\[(\d{1,4})\]:\s*\{?(.+?)\}?\s*$")

Labels = dict[tuple[int, int], str]
"""Numbers of source and target -> label."""


def parts(k: int, lines: int) -> Iterator[range]:
    """The sources 1 to ``k``, cut so that the pairs of each part take ``lines`` lines at most, one source at least."""
    step = max(1, lines // (k - 1))
    yield from (range(start, min(start + step, k + 1)) for start in range(1, k + 1, step))


def wanted(sources: range, k: int) -> str:
    """What a prompt asks for at its end where it asks for some sources only; empty for all of them."""
    if len(sources) == k:
        return ""
    return f"\n\nThis time write only the lines whose source is one of CHUNK[{sources[0]}] to CHUNK[{sources[-1]}]."


def pair_labels(text: str, sources: range, k: int, *, known: frozenset[str]) -> Labels:
    """The labels of the pairs from ``sources`` to all ``k`` chunks that have a line with a known one.

    Raises:
        ValueError: More pairs than not have none; the message tells the model what to change.
    """
    expected = [(i, j) for i, j in permutations(range(1, k + 1), 2) if i in sources]
    labels: Labels = {}
    for found in filter(None, (_LINE.match(line.strip()) for line in text.split("\n"))):
        pair = (int(found[1]), int(found[2]))
        if found[3] in known:
            labels.setdefault(pair, found[3])
    labels = {pair: labels[pair] for pair in expected if pair in labels}
    if len(labels) < FEWEST * len(expected):
        missing = [pair for pair in expected if pair not in labels][:5]
        raise ValueError(
            f"{len(expected)} pairs take a line 'CHUNK[i] -> CHUNK[j]: LABEL' each, with a label of the list; "
            f"{len(labels)} have one. Missing are e.g. {missing}."
        )
    return labels
