"""Rules that decide from a reranker's logits, best first, how many passages are read."""

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discorag.retrieval.width import CANDIDATES

Rule = Callable[[NDArray[np.float64]], int]
FEWEST = (1, 3, 5, 8, 10)


def _fixed() -> Iterator[tuple[str, Rule]]:
    for k in range(1, CANDIDATES + 1):
        yield f"k={k}", lambda _logits, k=k: k


def _absolute() -> Iterator[tuple[str, Rule]]:
    for least, fewest in product(range(-11, 9), FEWEST):
        yield f"logit>={least}, {fewest} at least", lambda x, t=least, m=fewest: max(m, int((x >= t).sum()))


def _gap() -> Iterator[tuple[str, Rule]]:
    for gap, fewest in product(range(1, 20), FEWEST):
        yield f"logit>=best-{gap}, {fewest} at least", lambda x, g=gap, m=fewest: max(m, int((x >= x[0] - g).sum()))


def _either() -> Iterator[tuple[str, Rule]]:
    for least, gap, fewest in product(range(-11, 9, 2), range(0, 14, 2), FEWEST):
        name = f"logit>={least} or >=best-{gap}, {fewest} at least"
        yield name, lambda x, t=least, g=gap, m=fewest: max(m, int((x >= min(t, x[0] - g)).sum()))


def _mass() -> Iterator[tuple[str, Rule]]:
    for share, heat, fewest in product((0.5, 0.7, 0.8, 0.9, 0.95, 0.98), (0.5, 1, 2, 3, 4, 6), FEWEST):
        yield f"mass {share} at heat {heat}, {fewest} at least", _reaching(share, heat, fewest)


def _reaching(share: float, heat: float, fewest: int) -> Rule:
    """The fewest passages whose softmax probabilities reach a share."""

    def count(logits: NDArray[np.float64]) -> int:
        mass = np.exp((logits - logits[0]) / heat)
        return max(fewest, int(np.searchsorted(np.cumsum(mass) / mass.sum(), share)) + 1)

    return count


FAMILIES: Mapping[str, Mapping[str, Rule]] = {
    "fixed": dict(_fixed()),
    "absolute": dict(_absolute()),
    "gap": dict(_gap()),
    "either": dict(_either()),
    "mass": dict(_mass()),
}
"""Families of rules; each has its rules by their parameters."""
