"""Statements, plan and answer in one reply, where all passages fit one call."""

import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from discorag.answering.collect import STAGE, Show, StatementsAsTheyCome, ignore, statements_prompt
from discorag.answering.json_replies import object_in, whole_items
from discorag.answering.reader import ReaderModel
from discorag.answering.shown import Shown
from discorag.answering.statements import Collected, read_statements
from discorag.answering.write import LABEL, read_answer, wrong_citations
from discorag.generation.prompted.prose import outcome_of
from discorag.models.protocol import Reply
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.text.citation_forms import cited_in_brackets, has_citation
from discorag.text.replies import whole_sentences, without_fences

ANSWER = "ANSWER: "
"""The mark before the answer in a reply."""
_FORM = "First write one JSON object on one line:"
_MARK = re.compile(r"^[^\w\n{}\[\]\"]*ANSWER[*_`]*[:：][*_`]*[^\S\n]*", re.MULTILINE)
_STATEMENTS = re.compile(r"\{\s*[\"'“]statements")
_NO_PROSE = re.compile(r"(?<=\S)\s*\n\s*[{`~]")


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
    checked, whole = partial(_checked, inputs=inputs), partial(_whole, inputs=inputs)
    request = replace(reader.request(STAGE, _prompt(inputs, reader), checked, await _limit(reader)), cut=whole)
    shown, early = _AfterMark(inputs), StatementsAsTheyCome(inputs.chunks, None, show)
    async for piece in reader.model.stream(request):
        if isinstance(piece, Reply):
            if rest := shown.rest():
                yield rest
            both, outcome = _read(piece.value, inputs), outcome_of(STAGE, piece)
            counts = {**both.collected.counts(), "answers": int(bool(both.text))}
            failures = (*outcome.failures, *wrong_citations(_parts(piece.value, inputs)[1], inputs))
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


def _parts(text: str, inputs: AnswerInputs) -> tuple[str, str]:
    """The JSON object and the answer in a reply, which may have ended before the answer."""
    mark = _last_mark(text)
    if mark is None:
        return _unmarked_parts(text, inputs)
    before, after = text[: mark.start()], text[mark.end() :]
    if not _STATEMENTS.search(before) and (found := _STATEMENTS.search(after)):
        return after[found.start() :], after[: found.start()]
    return before, after


def _last_mark(text: str) -> re.Match[str] | None:
    return next(reversed(list(_MARK.finditer(text))), None)


def _unmarked_parts(text: str, inputs: AnswerInputs) -> tuple[str, str]:
    """The parts of a reply without the mark: the answer is in the object, or it is what follows and cites passages."""
    if not (found := object_in(text, "statements")):
        return text, ""
    reply, end = found
    if said := next((said for key, said in reply.items() if key.lower() == "answer" and isinstance(said, str)), ""):
        return text, said
    rest = without_fences(text[end:])
    is_answer = LABEL.match(rest) or has_citation(cited_in_brackets(rest, [chunk.text for chunk in inputs.chunks]))
    return (text[:end], rest) if is_answer else (text, "")


def _checked(text: str, inputs: AnswerInputs) -> str:
    _read(text, inputs)
    return text


def _read(text: str, inputs: AnswerInputs) -> AnswerWithStatements:
    """Statements, plan and answer of a reply. Raises ``ValueError`` if it has no statements in the form asked for."""
    statements, answer = _parts(text, inputs)
    collected = read_statements(statements, inputs.chunks)
    with suppress(ValueError):
        return AnswerWithStatements(collected, read_answer(answer, inputs))
    return AnswerWithStatements(collected)


def _whole(text: str, inputs: AnswerInputs) -> str:
    """A reply that was cut off, up to the last whole sentence of its answer, or its last whole statement.

    Raises:
        ValueError: No statement is whole.
    """
    statements, answer = _parts(text, inputs)
    if not answer:
        return whole_items(text, "statements")
    try:
        return f"{statements}\n{ANSWER}{whole_sentences(answer)}"
    except ValueError:
        return statements


class _AfterMark:
    """The pieces of a stream that come after the mark of the answer, with citations in the form that we read.

    What begins like JSON or code on a line of its own is not shown before the reply has ended.
    """

    def __init__(self, inputs: AnswerInputs) -> None:
        self._text, self._is_marked, self._pushed = "", False, 0
        self._shown = Shown([chunk.text for chunk in inputs.chunks])

    def push(self, piece: str) -> str:
        """Return what can be shown once ``piece`` has come."""
        self._text += piece
        if not self._pushed and (mark := _last_mark(self._text)):
            self._text, self._is_marked = self._text[mark.end() :], True
        begun = self._text.lstrip("*_ \n")
        if not self._is_marked or ANSWER.startswith(begun):
            return ""
        over = _NO_PROSE.search(begun)
        new = begun[self._pushed : over.start() if over else None]
        self._pushed += len(new)
        return self._shown.push(new) if new else ""

    def rest(self) -> str:
        """Return what was held back, at the end."""
        return self._shown.rest()
