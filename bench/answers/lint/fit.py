"""A small logistic regression for each fault over its signs, fitted on half of the marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from bench.answers.lint.marks import Mark
from bench.answers.lint.said import FAULTS, Answered, Fault
from bench.answers.lint.signs import signs
from discorag.schema.values import digest

RIDGE = 0.1
STEPS = 40

Marked = Sequence[tuple[Mark, Answered]]


class Line(BaseModel):
    """Weights of a fault's signs, the constant last, and the probability from which a sentence has it."""

    model_config = ConfigDict(frozen=True)

    weights: tuple[float, ...]
    threshold: float

    def has(self, found: Sequence[float]) -> bool:
        """Whether a sentence with these signs has the fault."""
        return self.probability(found) >= self.threshold

    def probability(self, found: Sequence[float]) -> float:
        """That a sentence with these signs has the fault."""
        return float(1 / (1 + np.exp(-np.dot([*found, 1.0], self.weights))))


@dataclass(frozen=True)
class Rates:
    """How marks and findings agree, in answers."""

    marked: int
    found: int
    both: int

    @property
    def precision(self) -> float:
        """Share of the findings that are marked; 1 where nothing was found."""
        return self.both / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the marks that are found; 1 where nothing is marked."""
        return self.both / self.marked if self.marked else 1.0

    @property
    def f1(self) -> float:
        """Of both."""
        return 2 * self.both / (self.marked + self.found) if self.marked + self.found else 1.0


def halves(marked: Marked) -> tuple[Marked, Marked]:
    """To fit on, and to report: each set dealt in turn, in the order of the digests of its questions."""
    order = sorted(marked, key=lambda pair: (pair[0].set, digest(pair[0].question)))
    return order[::2], order[1::2]


def fitted(marked: Marked) -> dict[Fault, Line]:
    """A model for each fault; its threshold is the middle one of those with the best F1."""
    return {fault: _fitted(marked, fault) for fault in FAULTS}


def _fitted(marked: Marked, fault: Fault) -> Line:
    rows = [(signs(a, i)[fault], i in m.places(fault)) for m, a in marked for i in range(len(a.sentences))]
    inputs = np.array([[*found, 1.0] for found, _ in rows])
    weights = _logistic(inputs, np.array([float(has) for _, has in rows]))
    line = Line(weights=tuple(np.round(weights, 3).tolist()), threshold=0.5)
    tried = [line.model_copy(update={"threshold": t}) for t in np.arange(0.02, 0.99, 0.02).round(2).tolist()]
    scores = [rates(marked, {fault: one}, fault).f1 for one in tried]
    best = [one for one, score in zip(tried, scores, strict=True) if score == max(scores)]
    return best[len(best) // 2]


def _logistic(inputs: NDArray[np.float64], has: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton's method with a ridge on all weights but the constant."""
    ridge = np.diag([RIDGE] * (inputs.shape[1] - 1) + [1e-3])
    weights = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (p - has) + ridge @ weights
        weights -= np.linalg.solve((inputs * (p * (1 - p))[:, None]).T @ inputs + ridge, slope)
    return weights


def rates(marked: Marked, lines: dict[Fault, Line], fault: Fault) -> Rates:
    """Marks and findings of a fault."""
    return _rates((bool(m.places(fault)), bool(found(a, lines[fault], fault))) for m, a in marked)


def rates_of_any(marked: Marked, lines: dict[Fault, Line]) -> Rates:
    """Marks and findings of any fault."""
    return _rates((any(m.places(f) for f in FAULTS), any(found(a, lines[f], f) for f in FAULTS)) for m, a in marked)


def found(answer: Answered, line: Line, fault: Fault) -> list[int]:
    """The places of the sentences that have the fault."""
    return [i for i in range(len(answer.sentences)) if line.has(signs(answer, i)[fault])]


def _rates(pairs: Iterable[tuple[bool, bool]]) -> Rates:
    every = list(pairs)
    return Rates(marked=sum(m for m, _ in every), found=sum(f for _, f in every), both=sum(m and f for m, f in every))
