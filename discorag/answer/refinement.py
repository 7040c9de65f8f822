"""Refinement: a language model reads a text beside what it was made of, and returns a better one or the same.

Source: HTSIR section "Feedback-Driven Refinement", after Self-Refine (Madaan et al. 2024). There feedback and revision
are calls of their own, and alternate until the text will do; here one call does both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from discorag.models.protocol import LanguageModel, Message, Reply, Request, Template
from discorag.rst.inline import escape, unescape
from discorag.trees.builder import Summariser, Summary
from discorag.types.errors import ModelError
from discorag.types.usage import Usage
from discorag.types.words import count_words

# How many times the words asked for a refined summary may have.
_TOLERANCE = 1.5
_CITATION = re.compile(r"\[([\d,\s]+)\]")


class RefiningSummariser:
    """A `Summariser` whose summaries are refined by one more call each.

    Args:
        summariser: Writes them.
        model: Refines them.
        template: Prompt with the variables ``texts``, ``summary`` and ``words``.
        max_tokens: Limit of a refined summary.

    Example:
        >>> from discorag.answer.refinement import RefiningSummariser
        >>> from discorag.trees.summarise import ExtractiveSummariser
        >>> refined = RefiningSummariser(ExtractiveSummariser(), says("Tides rise daily."), prompt("refine-summary"))
        >>> asyncio.run(refined.summarise(["Tides rise twice a day.", "They fall."], words=5)).text
        'Tides rise daily.'
    """

    def __init__(
        self, summariser: Summariser, model: LanguageModel, template: Template, *, max_tokens: int = 1024
    ) -> None:
        self._summariser = summariser
        self._model = model
        self._template = template
        self._max_tokens = max_tokens

    @property
    def version(self) -> str:
        """The inner summariser's, with model and prompt of the refinement."""
        return f"{self._summariser.version}+refined:{self._model.name}:{self._template.hash[:8]}"

    async def summarise(self, texts: Sequence[str], *, words: int) -> Summary:
        """The refined summary, or the inner one where that or its refinement failed; ``failure`` tells which."""
        made = await self._summariser.summarise(texts, words=words)
        if made.failure:
            return made
        prompt = self._template.render(texts=escape("\n\n".join(texts)), summary=escape(made.text), words=str(words))
        limit = max(int(_TOLERANCE * words), count_words(made.text))
        request = _request(prompt, lambda reply: _summary(reply, limit), self._max_tokens)
        return await _refined(self._model, request, made)


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
    """A better answer by one call, or the same where there is nothing to improve.

    Args:
        model: The gateway.
        template: Prompt with the variables ``question``, ``passages`` and ``answer``.
        question: What was asked.
        answer: The draft; its citations ``[n]`` count ``passages`` from 1.
        passages: What it may rest on.
        max_tokens: Limit of the refined answer.
        temperature: Sampling temperature.

    Raises:
        ModelError: The call failed; InvalidOutputError where the answer lost its citations or invented some.
    """
    numbered = "\n\n".join(f"[{i}] {escape(passage)}" for i, passage in enumerate(passages, start=1))
    prompt = template.render(question=escape(question), passages=numbered, answer=escape(answer))
    return await model.complete(
        _request(prompt, lambda reply: _answer(reply, answer, passages), max_tokens, temperature)
    )


def _request(prompt: str, parse: Callable[[str], str], max_tokens: int, temperature: float = 0.0) -> Request[str]:
    messages = (Message(role="user", content=prompt),)
    return Request(stage="refine", messages=messages, parse=parse, max_tokens=max_tokens, temperature=temperature)


async def _refined(model: LanguageModel, request: Request[str], old: Summary) -> Summary:
    try:
        reply = await model.complete(request)
    except ModelError as error:
        spent = old.usage + (error.usage or Usage())
        return Summary(old.text, spent, f"refine: {error.kind}: {error.message}")
    return Summary(reply.value, old.usage + reply.usage)


def _text(reply: str) -> str:
    text = unescape(reply).strip()
    if not text:
        raise ValueError("The reply is empty. Repeat the text if there is nothing to improve.")
    return text


def _summary(reply: str, limit: int) -> str:
    text = _text(reply)
    if (words := count_words(text)) > limit:
        raise ValueError(f"The summary has {words} words. Write at most {limit}.")
    return text


def _answer(reply: str, old: str, passages: Sequence[str]) -> str:
    text = _text(reply)
    cited = _cited(text)
    beyond = sorted(cited - set(range(1, len(passages) + 1)))
    if unknown := [n for n in beyond if not any(f"[{n}]" in passage for passage in passages)]:
        raise ValueError(f"There are passages 1 to {len(passages)}; the answer cites {unknown}.")
    if _cited(old) and not cited:
        raise ValueError("The answer cites no passage. End every sentence with the numbers of those that back it.")
    return text


def _cited(text: str) -> set[int]:
    return {int(number) for found in _CITATION.findall(text) for number in re.findall(r"\d+", found)}
