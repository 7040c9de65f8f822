"""Answers a file of questions into a file of replies; questions that have an answer there are not asked again."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ValidationError, model_validator

from discorag.schema.errors import DiscoRagError, InputError, StoreError
from discorag.schema.ledger import Failure
from interfaces.facade import DiscoRAG
from interfaces.questions import Question
from interfaces.results import AskResult

_BEGINNING = '{"id":'
"""How the line of a reply begins."""


class Reply(BaseModel, frozen=True):
    """A line of the replies' file: a result or an error."""

    id: str
    question: str
    result: AskResult | None = None
    error: Failure | None = None

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if (self.result is None) is (self.error is None):
            raise ValueError("a reply has a result or an error")
        return self


async def answer_file(
    rag: DiscoRAG,
    questions: Sequence[Question],
    out: Path,
    *,
    at_once: int = 4,
    on_reply: Callable[[Reply], None] = lambda _: None,
    **options: Any,
) -> int:
    """Answer questions into ``out``, a line each, in the order in which they are done; returns how many failed.

    Answers of an earlier run stay; questions that failed are asked again.

    Args:
        rag: The opened pipeline.
        questions: Each with an id.
        out: JSONL file of `Reply`. Errors, and a line that was cut off, are removed from it.
        at_once: Questions under way at the same time.
        on_reply: Called with every reply, those of an earlier run included.
        **options: As of `DiscoRAG.aask`.

    Raises:
        InputError: ``out`` is not a file of replies, or answers another question under the same id.
        StoreError: ``out`` cannot be written.
    """
    slots = asyncio.Semaphore(at_once)

    async def answer(question: Question) -> Reply:
        async with slots:
            return await reply_to(rag, question, options)

    with Replies(out, questions, on_reply) as replies:
        for reply in asyncio.as_completed(map(answer, replies.missing)):
            replies.add(await reply)
    return replies.failed


class Replies:
    """The open file of replies, without errors of an earlier run; replies that it already has are reported first."""

    def __init__(self, out: Path, questions: Sequence[Question], on_reply: Callable[[Reply], None]) -> None:
        self._out, self._on_reply, self.failed = out, on_reply, 0
        done = _answers(out)
        if other := next((q for q in questions if q.id in done and done[q.id].question != q.question), None):
            raise InputError(f"{out} answers another question under the id {other.id!r}.", hint="Name another --out.")
        self.missing = [question for question in questions if question.id not in done]
        for question in questions:
            if reply := done.get(question.id):
                on_reply(reply)

    def __enter__(self) -> Self:
        self._file = self._out.open("a", encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, reply: Reply) -> None:
        """Append a reply to the file, and show it on the progress bar."""
        try:
            self._file.write(reply.model_dump_json() + "\n")
            self._file.flush()
        except OSError as error:
            raise _write_error(self._out, error) from error
        self.failed += reply.error is not None
        self._on_reply(reply)


async def reply_to(rag: DiscoRAG, question: Question, options: Mapping[str, Any]) -> Reply:
    """Answer a question; the reply holds the answer or the error."""
    try:
        result = await rag.aask(question.question, filters=question.filters, **options)
    except DiscoRagError as error:
        return Reply(id=question.id, question=question.question, error=Failure.of("ask", error))
    return Reply(id=question.id, question=question.question, result=result)


def _answers(out: Path) -> dict[str, Reply]:
    """The answers in a file, by id; errors, and a line that was cut off, are removed from it."""
    text = out.read_text("utf-8") if out.exists() else ""
    *lines, rest = text.split("\n")
    if rest and not rest.startswith(_BEGINNING):  # else a line that was cut off
        lines.append(rest)
    try:
        replies = [Reply.model_validate_json(line) for line in lines]
    except ValidationError as error:
        raise InputError(f"{out} is not a file of replies.", hint="Name another --out.") from error
    answers = {r.id: r for r in replies if r.result}
    part = out.with_name(out.name + ".part")
    try:
        part.write_text("".join(r.model_dump_json() + "\n" for r in answers.values()), "utf-8")
        part.replace(out)
    except OSError as error:
        raise _write_error(out, error) from error
    return answers


def _write_error(out: Path, error: Exception) -> StoreError:
    return StoreError(f"{out} cannot be written: {error}.", hint="Check --out, and run it again.")
