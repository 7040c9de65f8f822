"""How many of the passages that a search found are read, and how many of them matter: what a reranker's logits say."""

from collections.abc import Sequence
from dataclasses import dataclass

CANDIDATES = 40
"""Chunks that are searched for and reranked."""
FITTED_ON = "ms-marco-MiniLM-L-12-v2@1225ccd6"
"""The reranker to whose logits the other numbers belong."""
UNSCORED = 20
"""Chunks that are read where no logits of this reranker tell how many are needed."""


@dataclass(frozen=True)
class Width:
    """How much is read for a question.

    Args:
        kept: How many of the passages are read, the best ones.
        decisive: How many of these matter for the answer: 1 where one is clearly ahead of the others.
    """

    kept: int
    decisive: int


def find_width(logits: Sequence[float]) -> Width:
    """Decide how many of the passages are read, and how many matter, from their logits, in any order."""
    ranked = sorted(logits, reverse=True)
    kept = max(5, sum(logit >= ranked[0] - 8 for logit in ranked))
    return Width(min(kept, len(ranked)), sum(logit >= ranked[0] - 2 for logit in ranked))
