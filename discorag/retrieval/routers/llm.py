"""The prompted router: a language model selects passages and headings by number; its reply is checked to the letter.

Source: RDR² sections 3.1 and 3.3, prompt C.2. Where the paper's router writes tagged lines, this one writes JSON,
which a server can enforce and a program can check.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from discorag.discourse.parse.inline import escape
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.retrieval.routers.subtree import RetrievalSubtree
from discorag.retrieval.routers.walk import STAGE, Decision

_SPARE, _TOKENS_PER_ID = 64, 6


class RouteReply(BaseModel):
    """The model's whole reply, in the ids of the prompt.

    Args:
        answer: Passages for [ANSWER].
        expand: The heading for [EXPAND], one a step; with an empty ``answer`` and null the reply is [REFUSE].
    """

    model_config = ConfigDict(extra="forbid")

    answer: list[int]
    expand: int | None


class LlmRouter:
    """A `discorag.retrieval.routers.walk.Router` that asks a model, one call a step.

    Args:
        model: The gateway.
        template: Prompt with the variables ``document`` and ``question``.
        max_tokens: Limit of the reply. None: by the number of passages shown.
        temperature: Sampling temperature.

    Example:
        >>> from discorag.retrieval.routers.llm import LlmRouter
        >>> from discorag.retrieval.routers.subtree import derive
        >>> router = LlmRouter(says('{"answer": [1], "expand": null}'), prompt("route"))
        >>> asyncio.run(router.decide("Why do tides rise?", derive(tree, [0]))).answer
        (0,)
    """

    def __init__(
        self, model: LanguageModel, template: Template, *, max_tokens: int | None = None, temperature: float = 0.0
    ) -> None:
        self._model = model
        self._template = template
        self._max_tokens = max_tokens
        self._temperature = temperature

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """What the model selects and unfolds.

        Raises:
            ModelError: The call failed, or the reply names nodes that are not visible even after one repair.
        """
        reply = await self._model.complete(self._request(question, subtree))
        return Decision(reply.value.answer, reply.value.expand, reply.usage)

    def _request(self, question: str, subtree: RetrievalSubtree) -> Request[Decision]:
        prompt = self._template.render(document=subtree.render(), question=escape(question))
        return Request(
            stage=STAGE,
            messages=(Message(role="user", content=prompt),),
            parse=lambda reply: decision_from_reply(reply, subtree),
            schema=reply_schema(subtree),
            max_tokens=self._max_tokens or _SPARE + _TOKENS_PER_ID * (1 + len(_shown(subtree)[0])),
            temperature=self._temperature,
        )


def reply_schema(subtree: RetrievalSubtree) -> dict[str, Any]:
    """The schema of `RouteReply` in the ids that are shown: a weak model would otherwise count on to its limit."""
    passages, headings = _shown(subtree)
    schema = RouteReply.model_json_schema()
    items = {"enum": list(passages)} if passages else {"type": "integer"}
    schema["properties"]["answer"] |= {"items": items, "maxItems": len(passages)}
    schema["properties"]["expand"] = {"enum": [*headings, None]}
    return schema


def _shown(subtree: RetrievalSubtree) -> tuple[dict[int, int], dict[int, int]]:
    """The nodes of the passages and of the headings in the prompt, by their ids there."""
    lit = frozenset(subtree.lit)
    passages = {number: node for number, (node, _) in enumerate(subtree.order) if node in lit}
    headings = {number: node for number, (node, _) in enumerate(subtree.order) if node >= subtree.tree.leaves}
    return passages, headings


def decision_from_reply(reply: str, subtree: RetrievalSubtree) -> Decision:
    """The decision, in nodes of the tree, that a model's JSON reply in the ids of the prompt describes.

    Raises:
        ValueError: It is no JSON of this schema, ``answer`` names what is no passage shown, or ``expand`` what is no
            heading. The message tells the model what to change.
    """
    try:
        value = RouteReply.model_validate_json(reply)
    except ValidationError as error:
        raise ValueError(_schema_message(error)) from error
    passages, headings = _shown(subtree)
    if wrong := [number for number in value.answer if number not in passages]:
        raise ValueError(f"answer: {_listed(wrong)}: no passage shown. Passages shown: {_listed(passages)}.")
    if value.expand is not None and value.expand not in headings:
        raise ValueError(f"expand: {value.expand} is no heading. Name one heading marked #+, or write null.")
    answer = tuple(passages[number] for number in dict.fromkeys(value.answer))
    return Decision(answer, None if value.expand is None else headings[value.expand])


def _schema_message(error: ValidationError) -> str:
    problems = (f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors()[:3])
    return "The reply is not a JSON object of the requested form. " + "; ".join(problems)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
