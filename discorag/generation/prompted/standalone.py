"""A follow-up question made self-contained: retrieval sees no conversation, so it must say all."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from discorag.discourse.parse.inline import escape, unescape
from discorag.models.protocol import LanguageModel, Message, Reply, Request, Template

TURNS = 12
"""Turns of a conversation that are looked at, the latest."""
_LONGEST_TURN = 2000  # characters
_SPARE = 256
"""Tokens of names and things that a question may lack; itself it has fewer tokens than bytes."""


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=2000)


async def standalone(question: str, history: Sequence[Message], model: LanguageModel, template: Template) -> Reply[str]:
    """The question as it would be asked without the conversation before it.

    Args:
        question: The user's next question.
        history: The conversation before it, in order.
        model: Rewrites it.
        template: Prompt with the variables ``history`` and ``question``.

    Raises:
        ModelError: As `LanguageModel.complete`.
    """
    said = "\n".join(f"{m.role}: {_shortened(m.content)}" for m in history[-TURNS:])
    prompt = template.render(history=escape(said), question=escape(question))
    request = Request(
        stage="standalone",
        messages=(Message(role="user", content=prompt),),
        parse=_parsed,
        schema=_Question.model_json_schema(),
        max_tokens=_SPARE + len(question.encode()),
    )
    return await model.complete(request)


def _parsed(text: str) -> str:
    return unescape(_Question.model_validate_json(text).question.strip())


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TURN else text[:_LONGEST_TURN] + " ..."
