"""The draft of an answer: by a language model or, without one or if it fails, from sentences of the sources."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol, TypeVar

from discorag.generation.extractive import extract_answer
from discorag.generation.plan_text import missing_references
from discorag.generation.selection import Selector
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import DiscoRagError, InputError, ModelError
from discorag.text.citations import steps, without_copied

T = TypeVar("T")
Write = Callable[[AnswerInputs], Awaitable[Outcome[str]]]
"""Writes an answer by a language model. Raises `ModelError`."""


class Progress(Protocol):
    """Receives a draft while it is written."""

    def emit(self, event: dict[str, Any]) -> None:
        """Receive an event: a token of the draft, or that the tokens so far are void."""
        ...

    def failed(self, error: DiscoRagError, *, fallback: str, of: str = "") -> None:
        """Receive an error, with what is used instead; ``of`` names an earlier stage that is at fault."""
        ...


async def write_draft(
    inputs: AnswerInputs, selector: Selector, progress: Progress, write: Write | None
) -> Outcome[str]:
    """Return the draft, by a language model that ``write`` calls; without it, of sentences of the sources.

    ``progress`` receives the words of the draft, and what is wrong with the plan. Raises as ``write`` and
    `Selector.rank`.
    """
    is_plan_usable = await _check_plan(inputs, progress)
    if write:
        outcome = await write(inputs)
        return outcome.holding(without_copied(outcome.value, [c.text for c in inputs.chunks]))
    outcome = await extract_answer(inputs, selector)
    if not is_plan_usable:
        cause = InputError("The plan cites no passage.", hint="Name the passages that a step uses, as [2] or [2.3].")
        progress.failed(cause, fallback="sentences by relevance")
    emit_token(progress, outcome.value)
    return outcome


async def _check_plan(inputs: AnswerInputs, progress: Progress) -> bool:
    """Whether there is no plan, or one that cites existing passages. Citations that do not exist are reported."""
    if inputs.plan is None:
        return True
    absent = await asyncio.to_thread(missing_references, inputs.plan, inputs)
    for message in absent.values():
        progress.failed(InputError(message), fallback="the rest of the plan", of="plan")
    return any(r not in absent for step in steps(inputs.plan) for r in step.references)


async def stream_answer(
    answer: AsyncIterator[str | Outcome[T]], progress: Progress, text: Callable[[T], str] = str
) -> Outcome[T]:
    """The outcome at the end of a streamed answer, whose pieces go to ``progress`` as they come.

    ``text`` returns the answer in the outcome's value.

    Raises:
        ModelError: The model failed, or the stream ended without an outcome.
    """
    pieces: list[str] = []
    async for piece in answer:
        if isinstance(piece, str):
            pieces.append(piece)
            emit_token(progress, piece)
        else:
            if (whole := text(piece.value)) != "".join(pieces):  # repaired, or cleaned
                replace_tokens(progress, whole)
            return piece
    raise ModelError("The stream ended without a reply.", hint="Check the endpoint's log.")


def emit_token(progress: Progress, text: str) -> None:
    """Send a piece of the draft."""
    progress.emit({"stage": "generate", "event": "token", "token": text})


def replace_tokens(progress: Progress, text: str) -> None:
    """Declare the tokens sent so far void, and send ``text`` instead."""
    void_tokens(progress)
    emit_token(progress, text)


def void_tokens(progress: Progress) -> None:
    """Declare the tokens so far void."""
    progress.emit({"stage": "generate", "event": "restart"})
