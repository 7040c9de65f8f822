"""Accuracy of multiple-choice answers."""

import re
from dataclasses import dataclass

from eval.metrics.base import Given

LETTERS = "abcd"

_CHOICE = re.compile(rf"\(([{LETTERS}])\)")


@dataclass(frozen=True)
class Accuracy:
    """Accuracy on QuALITY (Pang et al. 2022) with the extraction of DISRetrieval's evaluator.

    The choice is the first "(a)" to "(d)" in the lower-cased answer; an answer without one is wrong.
    """

    name: str = "accuracy"

    async def score(self, given: Given) -> float | None:
        """0 or 100; None where the sample has no options or no right one is known."""
        sample = given.sample
        if not sample.options or sample.correct is None:
            return None
        return 100.0 * (find_choice(given.answer) == sample.correct)


def find_choice(answer: str) -> int | None:
    """Zero-based index of the option that ``answer`` names first; None if it names none."""
    match = _CHOICE.search(answer.lower())
    return LETTERS.index(match[1]) if match else None
