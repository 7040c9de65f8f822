"""The questions of a file, answered by the actors of a pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from discorag.types.errors import DiscoRagError
from discorag.types.ledger import Failure
from graphs.bulk.actors import Actors
from graphs.bulk.pool import Work
from graphs.bulk.questions import Question, Reply, ReplyFile, reply_to
from graphs.facade import DiscoRAG


def answer_with(
    actors: Actors, questions: Sequence[Question], out: Path, on_reply: Callable[[Reply], None], **switches: Any
) -> int:
    """As `graphs.bulk.questions.answer_file`, by actors; returns how many questions failed.

    Raises:
        InputError, StoreError: See `ReplyFile`.
        EngineError: Ray cannot go on.
    """
    with ReplyFile(out, questions, on_reply) as file:
        asked = {q.model_dump_json(): q for q in file.open}
        for line, found in actors.each(answering, switches, [[line] for line in asked]):
            file.add(_failed(asked[line], found) if isinstance(found, DiscoRagError) else found)
    return file.failed


def answering(rag: DiscoRAG, switches: Mapping[str, Any]) -> Work:
    """The work on one question, by its line."""

    def answer(line: str) -> Reply:
        asked = Question.model_validate_json(line)
        return rag.run(lambda: reply_to(rag, asked, switches))

    return answer


def _failed(asked: Question, error: DiscoRagError) -> Reply:
    return Reply(id=asked.id, question=asked.question, error=Failure.of("ask", error))
