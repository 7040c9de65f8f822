"""Statements, plan and answer in one reply, where all passages fit one call."""

import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from discorag.answering.collect import Show, StatementsAsTheyCome, ignore, statements_prompt
from discorag.answering.json_replies import whole_items
from discorag.answering.reader import ReaderModel
from discorag.answering.shown import Shown
from discorag.answering.statements import Collected, read_statements
from discorag.answering.write import read_answer, wrong_citations
from discorag.generation.prompted.prose import outcome_of
from discorag.models.protocol import Reply
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.text.replies import whole_sentences

STAGE = "relate"
ANSWER = "ANSWER: "
"""The mark before the answer in a reply."""
_FORM = "First write one JSON object on one line:"
_MARK = re.compile(r"^[^\w\n{}\[\]\"]*ANSWER[*_`]*[:：][*_`]*[^\S\n]*", re.MULTILINE)


@dataclass(frozen=True)
class AnswerWithStatements:
    """Statements and plan, and the answer that was written after them; "" if that is another call's."""

    collected: Collected
    text: str = ""


async def answer_in_one_call(
    inputs: AnswerInputs, reader: ReaderModel, show: Show = ignore
) -> AsyncIterator[str | Outcome[AnswerWithStatements]]:
    """Pieces of the answer as they come, and at last the answer with its statements, relations and plan.

    The server cannot enforce a schema on a reply that has JSON and prose. ``show`` is called with each statement as
    soon as the model has written it. A reply that ends before its answer still has statements: their number in the
    ledger stands next to that of the ``answers``, 0 or 1.

    Raises:
        ModelError: When the gateway gives up; see `discorag.models.protocol`.
    """
    limit = await _limit(reader)
    request = replace(
        reader.request(STAGE, _prompt(inputs, reader), partial(_checked, inputs=inputs), limit), cut=_whole
    )
    shown, early = _AfterMark(inputs), StatementsAsTheyCome(inputs.chunks, None, show)
    async for piece in reader.model.stream(request):
        if isinstance(piece, Reply):
            if rest := shown.rest():
                yield rest
            both, outcome = _read(piece.value, inputs), outcome_of(STAGE, piece)
            counts = {**both.collected.counts(), "answers": int(bool(both.text))}
            failures = (*outcome.failures, *wrong_citations(_parts(piece.value)[1], inputs))
            yield replace(outcome, counts=counts, failures=failures).holding(both)
        else:
            early.push(piece)
            if text := shown.push(piece):
                yield text


async def fits_one_call(inputs: AnswerInputs, reader: ReaderModel) -> bool:
    """Whether statements and answer over all passages fit one call."""
    return await reader.room(_prompt(inputs, reader), await _limit(reader)) >= 0


async def _limit(reader: ReaderModel) -> int:
    return await reader.statement_limit() + await reader.answer_limit()


def _prompt(inputs: AnswerInputs, reader: ReaderModel) -> str:
    return reader.prompt("statements-and-answer").render(
        task=statements_prompt(inputs, reader, list(enumerate(inputs.chunks, start=1)), _FORM),
        instruction=reader.instruction(inputs),
        rules=reader.prompt("answer-rules").render(),
    )


def _parts(text: str) -> tuple[str, str]:
    """The JSON object and the answer in a reply, which may have ended before the answer."""
    mark = next(reversed(list(_MARK.finditer(text))), None)
    return (text[: mark.start()], text[mark.end() :]) if mark else (text, "")


def _checked(text: str, inputs: AnswerInputs) -> str:
    _read(text, inputs)
    return text


def _read(text: str, inputs: AnswerInputs) -> AnswerWithStatements:
    """Statements, plan and answer of a reply. Raises ``ValueError`` if it has no statements in the form asked for."""
    statements, answer = _parts(text)
    collected = read_statements(statements, inputs.chunks)
    with suppress(ValueError):
        return AnswerWithStatements(collected, read_answer(answer, inputs))
    return AnswerWithStatements(collected)


def _whole(text: str) -> str:
    """A reply that was cut off, up to the last whole sentence of its answer, or its last whole statement.

    Raises:
        ValueError: No statement is whole.
    """
    statements, answer = _parts(text)
    if not answer:
        return whole_items(text, "statements")
    try:
        return f"{statements}\n{ANSWER}{whole_sentences(answer)}"
    except ValueError:
        return statements


class _AfterMark:
    """The pieces of a stream that come after the mark of the answer, with citations in the form that we read."""

    def __init__(self, inputs: AnswerInputs) -> None:
        self._held, self._is_open = "", False
        self._shown = Shown([chunk.text for chunk in inputs.chunks])

    def push(self, piece: str) -> str:
        """Return what can be shown once ``piece`` has come."""
        if self._is_open:
            return self._shown.push(piece)
        self._held += piece
        mark = _MARK.search(self._held)
        begun = self._held[mark.end() :].lstrip("*_ \n") if mark else ""
        self._is_open = bool(begun)
        return self._shown.push(begun) if begun else ""

    def rest(self) -> str:
        """Return what was held back, at the end."""
        return self._shown.rest()
