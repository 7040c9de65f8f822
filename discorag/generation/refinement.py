"""Refinement: a language model reads its answer beside the passages, and returns a better one or the same.

Source: HTSIR section "Feedback-Driven Refinement", after Self-Refine (Madaan et al. 2024). There feedback and revision
are calls of their own, and alternate until the text will do; here one call does both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from discorag.discourse.parse.inline import escape, unescape
from discorag.models.protocol import LanguageModel, Message, Reply, Request, Template

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
        Request(
            stage="refine",
            messages=(Message(role="user", content=prompt),),
            parse=lambda reply: _answer(reply, answer, passages),
            max_tokens=max_tokens,
            temperature=temperature,
        )
    )


def _answer(reply: str, old: str, passages: Sequence[str]) -> str:
    text = unescape(reply).strip()
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
