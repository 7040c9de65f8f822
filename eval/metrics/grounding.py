"""What the answer rests on: the spans that its verified sentences were traced to, against the gold evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.metrics.base import Given
from eval.sample import DocSpan, Gold

TOUCH = 20
"""Characters that two stretches must share (all, if one is shorter) to be about the same place."""


def touches(a: DocSpan, b: DocSpan) -> bool:
    """Whether two stretches are about the same place."""
    common = min(a.span.end, b.span.end) - max(a.span.start, b.span.start)
    shorter = min(a.span.end - a.span.start, b.span.end - b.span.start)
    return a.doc == b.doc and common >= min(TOUCH, shorter)


def is_reached(gold: Gold, places: tuple[DocSpan, ...]) -> bool:
    """Whether one of the places is where the gold evidence stands."""
    return any(touches(g, p) for p in places for g in gold.anywhere)


@dataclass(frozen=True)
class GoldUsed:
    """Share of the gold evidence that the answer rests on, or with ``min`` whether it rests on all of it."""

    name: str = "gold_used"
    over_pieces: Callable[[Sequence[bool]], float] = fmean

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without gold evidence."""
        gold = given.sample.gold
        return 100 * float(self.over_pieces([is_reached(g, given.used) for g in gold])) if gold else None


@dataclass(frozen=True)
class GoldPrecision:
    """Share of the stretches that the answer rests on that are gold evidence."""

    name: str = "gold_precision"

    async def score(self, given: Given) -> float | None:
        """0 to 100, 0 for an answer that rests on nothing; None without gold evidence."""
        if not given.sample.gold:
            return None
        places = [g for gold in given.sample.gold for g in gold.anywhere]
        hits = sum(any(touches(p, g) for g in places) for p in given.used)
        return 100 * hits / len(given.used) if given.used else 0.0


@dataclass(frozen=True)
class Supported:
    """Share of the answer's sentences that the verifier traced to a source."""

    name: str = "supported"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None for an answer without sentences, or one that was not verified."""
        return None if given.unsupported is None else 100 * (1 - given.unsupported)
