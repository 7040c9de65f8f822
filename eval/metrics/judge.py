"""Loong's score (Wang et al. 2024, official ``metric.py``): a model compares the answer with the gold answer, 1 to 100.

Corpus means of `JudgeScore` and `JudgePerfect` are the paper's average score and perfect rate, over scored answers.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from dataclasses import dataclass

from discorag.models.protocol import LanguageModel, Message, Request
from discorag.schema.errors import ContextTooLongError, InvalidOutputError, OutputTruncatedError
from eval.errors import MetricUnavailableError, NotScorableError
from eval.metrics.base import Given, MetricModels
from eval.metrics.prompts import judge_prompt
from eval.sample import Sample

_RATINGS = (re.compile(r"\[\[([0-9]*\.?[0-9]+)\]\]"), re.compile(r"\[([0-9]*\.?[0-9]+)\]"))
_HIGHEST = 100.0
_MAX_TOKENS = 1024
_SHOWN = 200  # characters of a judge's prose in an error


class LoongJudge:
    """Asks the judge once for each answer, however many metrics want its score, also at the same time.

    Args:
        models: With the judge, and the file of the official prompt if the user has it.

    Raises:
        MetricUnavailableError: There is no judge.
        MissingPathError: The prompt's file does not exist.
        DataError: It lacks a placeholder.
    """

    def __init__(self, models: MetricModels) -> None:
        if models.judge is None:
            raise MetricUnavailableError("No judge is configured.", hint="Name it: --judge-url and --judge-model.")
        self._model: LanguageModel = models.judge
        self._prompt = judge_prompt(models.judge_prompt)
        self._outputs: dict[tuple[str, str], str | NotScorableError] = {}
        self._locks: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def comparable(self) -> bool:
        """Whether scores may stand beside published ones: only with the official prompt."""
        return self._prompt.official

    async def rate(self, given: Given) -> float | None:
        """The judge's score, 0 to 100; None for a sample without a reference.

        Raises:
            NotScorableError: The judge wrote prose, was cut off, refused, or gave a score above 100.
            ModelError: The endpoint fails; nothing is remembered, so asking again asks the judge again.
        """
        if not given.sample.references:
            return None
        key = (given.sample.id, given.answer)
        async with self._locks[key]:
            if key not in self._outputs:
                self._outputs[key] = await self._ask(given)
        output = self._outputs[key]
        if isinstance(output, NotScorableError):
            raise NotScorableError(output.message, hint=output.hint) from output
        return rating(output)

    async def _ask(self, given: Given) -> str | NotScorableError:
        prompt = self._prompt.render(
            question=_question(given.sample), gold=given.sample.references[0], answer=given.answer
        )
        messages = (Message(role="user", content=prompt),)
        try:
            return (await self._model.complete(_request(messages))).text
        except (InvalidOutputError, OutputTruncatedError, ContextTooLongError) as error:
            return NotScorableError(f"The judge's output cannot be used: {error.message}", hint=error.hint)


@dataclass(frozen=True)
class JudgeScore:
    """The judge's score."""

    judge: LoongJudge
    name: str = "judge_score"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without a reference. Raises as `LoongJudge.rate`."""
        return await self.judge.rate(given)


@dataclass(frozen=True)
class JudgePerfect:
    """Whether the judge gave full marks; its mean is the perfect rate, which papers print as EM."""

    judge: LoongJudge
    name: str = "judge_perfect"

    async def score(self, given: Given) -> float | None:
        """0 or 100; None without a reference. Raises as `LoongJudge.rate`."""
        rated = await self.judge.rate(given)
        return None if rated is None else 100.0 * (rated == _HIGHEST)


def rating(output: str) -> float:
    """The score in a judge's output: the first ``[[number]]``, else the first ``[number]`` (official code).

    Raises:
        NotScorableError: There is none, or it is above 100.
    """
    match = next(filter(None, (pattern.search(output) for pattern in _RATINGS)), None)
    if match is None:
        raise NotScorableError(
            f"The judge wrote prose, without a rating: {output[:_SHOWN]!r}.", hint="Use a stronger judge."
        )
    if float(match[1]) > _HIGHEST:
        raise NotScorableError(f"The judge gave {match[1]}, above 100.", hint="Use a stronger judge.")
    return float(match[1])


def _request(messages: tuple[Message, ...]) -> Request[str]:
    """The official code does not ask again where no rating is found; so prose passes, and is counted as not scored."""
    return Request(stage="judge", messages=messages, parse=str, max_tokens=_MAX_TOKENS, temperature=0.0, beam_width=1)


def _question(sample: Sample) -> str:
    return sample.prompt or "\n\n".join(filter(None, (sample.query, sample.instruction)))
