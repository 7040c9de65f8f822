"""The metrics of ALCE (Gao et al. 2023) for QAMPARI and ELI5."""

from dataclasses import dataclass
from typing import Literal

from eval.metrics.base import Given
from eval.metrics.normal import normalise

_ENOUGH = 5  # answers, of which no more than these are asked for


@dataclass(frozen=True)
class Qampari:
    """Precision, recall or F1 of a list of answers, as ALCE's ``compute_qampari_f1`` has them.

    The answer is cut at commas; a piece counts if it equals an alias once both are normalised. Recall-5 is 100 as soon
    as five answers are found, or all of fewer; F1-5 is of precision and recall-5.
    """

    name: Literal["qampari_precision", "qampari_recall", "qampari_recall5", "qampari_f1_5"]

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without short answers."""
        points = [{normalise(alias) for alias in aliases} for aliases in given.sample.short_answers]
        if not points:
            return None
        pieces = [said for piece in given.answer.strip().rstrip(".,").split(",") if (said := normalise(piece))]
        right = [piece for piece in pieces if any(piece in point for point in points)]
        precision, found = len(right) / max(1, len(pieces)), sum(bool(point & set(pieces)) for point in points)
        recall5 = min(_ENOUGH, found) / min(_ENOUGH, len(points))
        both = precision + recall5
        values = {
            "qampari_precision": precision,
            "qampari_recall": found / len(points),
            "qampari_recall5": recall5,
            "qampari_f1_5": 2 * precision * recall5 / both if both else 0.0,
        }
        return 100 * values[self.name]
