"""Loong's score (Wang et al. 2024, official ``metric.py``): a model compares the answer with the gold answer, 1 to 100.

Corpus means of ``judge_score`` and ``judge_perfect`` are the paper's average score and perfect rate, over scored
answers.
"""

import asyncio
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

from discorag.models.protocol import LanguageModel, Message, Request
from discorag.schema.errors import ContextTooLongError, InvalidOutputError, MissingPathError, OutputTruncatedError
from eval.errors import DataError, MetricUnavailableError, NotScorableError
from eval.metrics.base import Given, MetricModels
from eval.sample import Sample

_RATINGS = (re.compile(r"\[\[([0-9]*\.?[0-9]+)\]\]"), re.compile(r"\[([0-9]*\.?[0-9]+)\]"))
_HIGHEST = 100.0
_MAX_TOKENS = 1024
_SHOWN = 200  # characters of a judge's prose in an error
_OWN = Path(__file__).with_name("judge.md")
_VARIABLES = ("question", "gold", "answer")
_PLACEHOLDER = re.compile(r"\{(question|gold|answer)\}")


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
        """Whether scores may be compared with published ones: only with the official prompt."""
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
class Judged:
    """The judge's score, or whether it gave full marks: the perfect rate, which papers print as EM."""

    judge: LoongJudge
    name: Literal["judge_score", "judge_perfect"]

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without a reference. Raises as `LoongJudge.rate`."""
        rated = await self.judge.rate(given)
        return rated if rated is None or self.name == "judge_score" else 100.0 * (rated == _HIGHEST)


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


@dataclass(frozen=True)
class JudgePrompt:
    """A prompt with the placeholders ``{question}``, ``{gold}`` and ``{answer}``; other braces mean nothing.

    Args:
        text: The prompt.
        official: Whether it is the user's file. Its values are put in as they are, since its fences are fixed wording;
            in our own wording they stand between tags, with ``&``, ``<`` and ``>`` as character entities.
    """

    text: str
    official: bool

    def render(self, *, question: str, gold: str, answer: str) -> str:
        """The prompt with the values put in, in one pass: a value is never searched for placeholders."""
        values = {"question": question, "gold": gold, "answer": answer}
        return _PLACEHOLDER.sub(lambda m: values[m[1]] if self.official else escape(values[m[1]]), self.text)


def judge_prompt(path: Path | None) -> JudgePrompt:
    """The prompt in the user's file ``path``, or our own wording if there is none.

    Raises:
        MissingPathError: No such file.
        DataError: It is not UTF-8, or lacks a placeholder.
    """
    if path is None:
        return JudgePrompt(text=_OWN.read_text(encoding="utf-8").strip(), official=False)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise MissingPathError(f"{path} does not exist.", hint="Name the file with --judge-prompt.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 at byte {error.start}.", hint="Save it as UTF-8.") from error
    missing = [f"{{{name}}}" for name in _VARIABLES if f"{{{name}}}" not in text]
    if missing:
        raise DataError(
            f"{path}: the judge prompt lacks {', '.join(missing)}.",
            hint="Put {question}, {gold} and {answer} where the values belong.",
        )
    return JudgePrompt(text=text, official=True)
