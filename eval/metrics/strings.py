"""Metrics that look for short answers in the answer, by string.

A sample's ``short_answers`` has one entry for each asked point, with the strings that are accepted for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from eval.metrics.base import Given
from eval.metrics.normal import answer_tokens, exact, normalise, token_f1

Rate = Callable[[str, Sequence[str]], float]
"""How well an answer gives one asked point, 0 to 1, from the answer and the point's accepted strings."""
_YES_NO = frozenset({"yes", "no", "noanswer"})


@dataclass(frozen=True)
class ShortAnswers:
    """A rate of the asked points, over all of them: the mean, the least or the greatest."""

    name: str
    rate: Rate
    over_points: Callable[[Sequence[float]], float] = fmean

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without short answers."""
        rates = [float(self.rate(given.answer, accepted)) for accepted in given.sample.short_answers]
        return 100 * self.over_points(rates) if rates else None


@dataclass(frozen=True)
class WrongAbsent:
    """Whether the answer has none of the planted values (RAMDocs), as whole words, outside of longer right ones.

    An answer that names a planted value only to reject it has it, too: who is to forgive that needs a judge.
    """

    name: str = "wrong_absent"

    async def score(self, given: Given) -> float | None:
        """0 or 100; None where nothing was planted."""
        if not given.sample.wrong_answers:
            return None
        words = answer_tokens(given.answer)
        right = [answer_tokens(one) for point in given.sample.short_answers for one in point]
        planted = [answer_tokens(wrong) for wrong in given.sample.wrong_answers]
        for run in sorted([*right, *planted], key=len, reverse=True):  # of equal ones, the right one is first
            if run in planted and run not in right and _has_run(words, run):
                return 0.0
            words = _without_run(words, run)
        return 100.0


@dataclass(frozen=True)
class AnswerWords:
    """Words of the answer: a long one has better chances to hold what is looked for. No score from 0 to 100."""

    name: str = "answer_words"

    async def score(self, given: Given) -> float:
        """As many as there are between white space."""
        return float(len(given.answer.split()))


def has_substring(answer: str, accepted: Sequence[str]) -> bool:
    """Whether any accepted string is a substring of the answer, both normalised (ASQA's ``scoring.py``).

    As in the official code, substrings of words count ("art" is in "party"), and a string that normalises to nothing
    is always found.
    """
    searched = normalise(answer)
    return any(normalise(one) in searched for one in accepted)


def has_words(answer: str, accepted: Sequence[str]) -> bool:
    """Whether the normalised words of any accepted string stand in the answer, one after the other, as whole words.

    So it is never above `has_substring` for English, but for strings that normalise to nothing, which count as absent.
    """
    words = answer_tokens(answer)
    return any(_has_run(words, answer_tokens(one)) for one in accepted)


def is_exact(answer: str, accepted: Sequence[str]) -> bool:
    """Whether the normalised answer is one of the accepted strings (SQuAD)."""
    return any(exact(answer, one) for one in accepted)


def best_f1(answer: str, accepted: Sequence[str]) -> float:
    """Token F1 (SQuAD), the best over the accepted strings.

    HotpotQA's rule holds for all (``hotpot_evaluate_v1.py``): where either side is just "yes", "no" or "noanswer", only
    equality counts.
    """
    return max((_f1(answer, one) for one in accepted), default=0.0)


def _has_run(words: list[str], run: list[str]) -> bool:
    starts = range(len(words) - len(run) + 1)
    return bool(run) and any(words[start : start + len(run)] == run for start in starts)


def _without_run(words: list[str], run: list[str]) -> list[str]:
    """The words with a gap, which is not a word, instead of each run."""
    at, left = 0, list[str]()
    while at < len(words):
        is_here = bool(run) and words[at : at + len(run)] == run
        left.append("" if is_here else words[at])
        at += len(run) if is_here else 1
    return left


def _f1(answer: str, accepted: str) -> float:
    if _YES_NO & {normalise(answer), normalise(accepted)}:
        return float(exact(answer, accepted))
    return token_f1(answer, accepted)


SHORT_ANSWERS = (
    ShortAnswers("str_em", has_substring),  # ASQA, section 5
    ShortAnswers("str_em_hit", has_substring, min),  # ALCE
    ShortAnswers("all_right", has_words, min),  # RAMDocs: every right value, as whole words
    ShortAnswers("disambig_recall", has_words),  # Disco-RAG, eq. 4 and 5, which leave open how it is decided
    ShortAnswers("exact_match", is_exact),
    ShortAnswers("token_f1", best_f1),
    ShortAnswers("contains_answer", has_substring, max),
)
