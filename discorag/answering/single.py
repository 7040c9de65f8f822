"""Statements, plan and answer in one reply: half the calls and tokens, for questions that few passages answer."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import partial

from discorag.answering.collect import plan_batches, statements_prompt
from discorag.answering.reader import ReaderModel
from discorag.answering.statements import Collected, read_statements
from discorag.answering.write import STAGE, read_answer
from discorag.generation.prompted.prose import outcome_of
from discorag.models.protocol import Reply
from discorag.schema.answer import AnswerInputs, Outcome

_FORM = "First write one JSON object on one line:"
_MARK = re.compile(r"^[^\w\n{}\[\]\"]*ANSWER[*_`]*[:：][*_`]*[^\S\n]*", re.MULTILINE)


@dataclass(frozen=True)
class AnswerWithStatements:
    """The answer, and the statements and plan that were written before it."""

    collected: Collected
    text: str


async def answer_in_one_call(
    inputs: AnswerInputs, reader: ReaderModel
) -> AsyncIterator[str | Outcome[AnswerWithStatements]]:
    """Pieces of the answer as they come, and at last the answer with its statements, relations and plan.

    The server cannot enforce a schema on a reply that has JSON and prose.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    limit = await reader.statement_limit() + await reader.answer_limit()
    prompt = reader.prompt("statements-and-answer").render(
        task=statements_prompt(inputs, reader, range(1, len(inputs.chunks) + 1), _FORM),
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )
    shown = _AfterMark()
    async for piece in reader.model.stream(reader.request(STAGE, prompt, partial(_checked, inputs=inputs), limit)):
        if isinstance(piece, Reply):
            both = _read(piece.value, inputs)
            yield replace(outcome_of(STAGE, piece), counts=both.collected.counts()).holding(both)
        elif text := shown.push(piece):
            yield text


async def fits_one_call(inputs: AnswerInputs, reader: ReaderModel) -> bool:
    """Whether statements and answer over all passages fit one call."""
    rules = reader.count([reader.prompt("answer-rules").render()])[0] + await reader.answer_limit()
    return len(await plan_batches(inputs, reader, spare=rules)) == 1


def _checked(text: str, inputs: AnswerInputs) -> str:
    _read(text, inputs)
    return text


def _read(text: str, inputs: AnswerInputs) -> AnswerWithStatements:
    """Raises ``ValueError`` if statements or answer are missing."""
    mark = next(reversed(list(_MARK.finditer(text))), None)
    if mark is None:
        raise ValueError("Write the JSON object, then, on a line of its own, ANSWER: and the answer.")
    collected = read_statements(text[: mark.start()], inputs.chunks)
    return AnswerWithStatements(collected, read_answer(text[mark.end() :], inputs))


class _AfterMark:
    """The pieces of a stream that come after the mark of the answer."""

    def __init__(self) -> None:
        self._held, self._is_open = "", False

    def push(self, piece: str) -> str:
        """Return what can be shown once ``piece`` has come."""
        if self._is_open:
            return piece
        self._held += piece
        mark = _MARK.search(self._held)
        rest = self._held[mark.end() :].lstrip("*_` ") if mark else ""
        self._is_open = bool(rest)
        return rest
