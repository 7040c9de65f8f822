"""Metrics that look for short answers in the answer, by string.

A sample's ``short_answers`` has one entry for each asked point, with the strings that are accepted for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.metrics.base import Given
from eval.metrics.normal import answer_tokens, exact, normalise, token_f1

_YES_NO = frozenset({"yes", "no", "noanswer"})


@dataclass(frozen=True)
class StrEm:
    """STR-EM of ASQA (Stelmakh et al. 2022, section 5; ``scoring.py``).

    Share of the asked points of which any accepted string, normalised, is a substring of the normalised answer. As in
    the official code, substrings of words count ("art" is in "party"), and a string that normalises to nothing
    is always found.
    """

    name: str = "str_em"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without short answers."""
        return _mean_over_points(given, _has_substring)


@dataclass(frozen=True)
class StrEmHit:
    """STR-EM-Hit of ALCE (Gao et al. 2023): 100 if `StrEm` finds every asked point, else 0."""

    name: str = "str_em_hit"

    async def score(self, given: Given) -> float | None:
        """0 or 100; None without short answers."""
        share = _mean_over_points(given, _has_substring)
        return None if share is None else 100.0 * (share == 100)


@dataclass(frozen=True)
class DisambigRecall:
    """Disambiguation recall as Disco-RAG defines it (appendix B, equations 4 and 5).

    Share of the asked points whose "information" the answer contains; the paper does not say how that is decided.
    Here: the normalised words of any accepted string stand in the answer, one after the other, as whole words. It
    is thus never above `StrEm` for English (but for strings that normalise to nothing, which count as absent here),
    and needs no reader. It is not ASQA's DR, which is `eval.metrics.asqa.dr_ovscore`.
    """

    name: str = "disambig_recall"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without short answers."""
        return _mean_over_points(given, _has_words)


@dataclass(frozen=True)
class ExactMatch:
    """Exact match (SQuAD, NQ, TriviaQA, HotpotQA): the normalised answer is one of the accepted strings.

    With several asked points, the mean over them.
    """

    name: str = "exact_match"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without short answers."""
        return _mean_over_points(given, lambda answer, accepted: any(exact(answer, one) for one in accepted))


@dataclass(frozen=True)
class TokenF1:
    """Token F1 (SQuAD), best over the accepted strings; with several asked points, the mean over them.

    HotpotQA's rule holds for all (``hotpot_evaluate_v1.py``): where either side is just "yes", "no" or "noanswer", only
    equality counts.
    """

    name: str = "token_f1"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without short answers."""
        return _mean_over_points(given, _best_f1)


@dataclass(frozen=True)
class ContainsAnswer:
    """100 if any accepted string of any asked point, normalised, is a substring of the normalised answer, else 0."""

    name: str = "contains_answer"

    async def score(self, given: Given) -> float | None:
        """0 or 100; None without short answers."""
        share = _mean_over_points(given, _has_substring)
        return None if share is None else 100.0 * (share > 0)


def _mean_over_points(given: Given, rate: Callable[[str, Sequence[str]], float]) -> float | None:
    points = given.sample.short_answers
    if not points:
        return None
    return 100 * sum(rate(given.answer, accepted) for accepted in points) / len(points)


def _has_substring(answer: str, accepted: Sequence[str]) -> bool:
    searched = normalise(answer)
    return any(normalise(one) in searched for one in accepted)


def _has_words(answer: str, accepted: Sequence[str]) -> bool:
    words = answer_tokens(answer)
    return any(_has_run(words, answer_tokens(one)) for one in accepted)


def _has_run(words: list[str], run: list[str]) -> bool:
    starts = range(len(words) - len(run) + 1)
    return bool(run) and any(words[start : start + len(run)] == run for start in starts)


def _best_f1(answer: str, accepted: Sequence[str]) -> float:
    return max((_f1(answer, one) for one in accepted), default=0.0)


def _f1(answer: str, accepted: str) -> float:
    if _YES_NO & {normalise(answer), normalise(accepted)}:
        return float(exact(answer, accepted))
    return token_f1(answer, accepted)
