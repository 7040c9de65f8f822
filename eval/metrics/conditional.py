"""Scores of ConditionalQA: of the answer, and of the conditions that it names."""

from dataclasses import dataclass
from statistics import fmean

from discorag.text.sentences import sentence_spans
from eval.metrics.base import Given
from eval.metrics.normal import answer_tokens, best_token_f1


@dataclass(frozen=True)
class ConditionalQaF1:
    """Answer F1 of ConditionalQA (Sun et al. 2022; ``evaluate.py``) for a system that gives one answer: its beginning.

    The first sentence is compared with each of the right answers. The best token F1 is divided by their number, as
    the official evaluator does where fewer answers are given than there are.
    """

    name: str = "conditionalqa_f1"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None where the page has no answer."""
        references = [answer for accepted in given.sample.short_answers for answer in accepted]
        first = next((span.of(given.answer) for span in sentence_spans(given.answer)), "")
        return 100 * best_token_f1(first, references) / len(references) if references else None


@dataclass(frozen=True)
class ConditionsNamed:
    """Share of a condition's words that the answer has, mean over the conditions. It is deterministic, so ours.

    The official evaluator compares conditions as sentences of the page, which a text cannot name.
    """

    name: str = "conditions_named"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None where no answer depends on a condition."""
        said = set(answer_tokens(given.answer))
        named = [set(answer_tokens(condition)) for each in given.sample.conditions for condition in each]
        shares = [len(words & said) / len(words) for words in named if words]
        return 100 * fmean(shares) if shares else None
