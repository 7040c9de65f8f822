"""How many of the passages that a search found are read, and what a reranker's logits say of how many matter.

Measured by ``python -m bench.evidence`` (`docs/retrieval.md`).
"""

from collections.abc import Sequence

CANDIDATES = 40
"""Chunks that are searched for and reranked."""
KEPT = 20
"""Chunks of these that a language model reads: a fixed number, because rules that cut by logits do not find more
evidence in as many chunks."""
FITTED_ON = "ms-marco-MiniLM-L-12-v2@1225ccd6"
"""The reranker to whose logits `NEAR` belongs."""
NEAR = 6.0
"""The distance from the best logit within which a passage counts as near it."""


def count_near_best(logits: Sequence[float]) -> int:
    """Return how many passages have a logit near the best one: many where an answer needs many passages.

    The count tells questions that need four passages or more from the others. It does not tell those that one passage
    answers from those that need two.
    """
    return sum(logit >= max(logits) - NEAR for logit in logits)
