"""Token F1 against full reference answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eval.metrics.base import Given
from eval.metrics.normal import token_f1


@dataclass(frozen=True)
class QasperAnswerF1:
    """Answer F1 of QASPER (Dasigi et al. 2021, section 4): token F1, best over the annotators' answers.

    References are as the official evaluator writes them: "Unanswerable", "Yes" or "No" for those answers, extracted
    spans joined by ", ", else the free-form text.
    """

    name: str = "answer_f1"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references."""
        references = given.sample.references
        return 100 * answer_f1(given.answer, references) if references else None


def answer_f1(answer: str, references: Iterable[str]) -> float:
    """Best token F1, 0 to 1, of ``answer`` over ``references``; 0 without any."""
    return max((token_f1(answer, reference) for reference in references), default=0.0)
