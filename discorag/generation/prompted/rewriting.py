"""Calls that rewrite a text: a follow-up question made self-contained, and an answer refined against its passages.

Source of refinement: HTSIR section "Feedback-Driven Refinement", after Self-Refine (Madaan et al. 2024). There feedback
and revision are separate calls that alternate; here one call does both.
"""

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from discorag.discourse.parse.inline import escape, unescape
from discorag.models.protocol import LanguageModel, Message, Reply, Request, Template
from discorag.text.citation_forms import cited_in_brackets
from discorag.text.replies import prose_in, without_fences

TURNS = 12
"""How many turns of a conversation are read, the latest."""
_LONGEST_TURN = 2000  # characters
_SPARE = 256
"""Tokens of names and things that a question may lack; itself it has fewer tokens than bytes."""


class _Question(BaseModel, extra="forbid"):
    question: str = Field(min_length=1, max_length=2000)


async def standalone(question: str, history: Sequence[Message], model: LanguageModel, template: Template) -> Reply[str]:
    """The question, rewritten so that it can be understood without the conversation before it.

    The prompt's variables are ``history``, in order, and ``question``. Raises as `LanguageModel.complete`.
    """
    conversation = "\n".join(f"{m.role}: {_shortened(m.content)}" for m in history[-TURNS:])
    prompt = template.render(history=escape(conversation), question=escape(question))
    request = Request(
        stage="standalone",
        messages=(Message(role="user", content=prompt),),
        parse=lambda text: unescape(_Question.model_validate_json(text).question.strip()),
        schema=_Question.model_json_schema(),
        max_tokens=_SPARE + len(question.encode()),
    )
    return await model.complete(request)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TURN else text[:_LONGEST_TURN] + " ..."


_CITATION = re.compile(r"\[([\d,\s]+)\]")


async def refine_answer(
    model: LanguageModel,
    template: Template,
    *,
    question: str,
    answer: str,
    passages: Sequence[str],
    max_tokens: int = 1024,
    temperature: float = 0.0,
) -> Reply[str]:
    """An improved answer, by one call; the same answer if there is nothing to improve.

    The draft's citations ``[n]`` count ``passages`` from 1. The prompt's variables are ``question``, ``passages`` and
    ``answer``.

    Raises:
        ModelError: The call failed; InvalidOutputError if the answer lost its citations or invented some.
    """
    numbered = "\n\n".join(f"[{i}] {escape(passage)}" for i, passage in enumerate(passages, start=1))
    prompt = template.render(question=escape(question), passages=numbered, answer=escape(answer))
    return await model.complete(
        Request(
            stage="refine",
            messages=(Message(role="user", content=prompt),),
            parse=lambda reply: _answer(reply, answer, passages),
            max_tokens=max_tokens,
            temperature=temperature,
        )
    )


def _answer(reply: str, old: str, passages: Sequence[str]) -> str:
    text = cited_in_brackets(prose_in(without_fences(unescape(reply))), passages).strip()
    if not text:
        raise ValueError("The reply is empty. Repeat the answer if there is nothing to improve.")
    cited = _cited(text)
    beyond = sorted(cited - set(range(1, len(passages) + 1)))
    if unknown := [n for n in beyond if not any(f"[{n}]" in passage for passage in passages)]:
        raise ValueError(f"There are passages 1 to {len(passages)}; the answer cites {unknown}.")
    if _cited(old) and not cited:
        raise ValueError("The answer cites no passage. End every sentence with the numbers of those that back it.")
    return text


def _cited(text: str) -> set[int]:
    return {int(number) for found in _CITATION.findall(text) for number in re.findall(r"\d+", found)}
