"""The routers: a language model that answers by number, and one without a model that goes by similarity.

Source: RDR² sections 3.1 and 3.3, prompt C.2. The paper's router writes tagged lines, this one JSON, which a server can
enforce and a program can check. Routing by similarity is ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from discorag.discourse.parse.inline import escape
from discorag.models.protocol import Encoder, LanguageModel, Message, Request, Template, schema_message
from discorag.models.toolbox import Toolbox
from discorag.retrieval.builders.base import encode_cut
from discorag.retrieval.routers.walk import STAGE, Decision, RetrievalSubtree, Router
from discorag.schema.values import Vectors

_SPARE, _TOKENS_PER_ID = 64, 6
NEAR = 0.4
"""Cosine with the question from which on a passage is selected and a heading unfolded, for the packaged MiniLM.

It rests on little: 33 questions on 7 papers of QASPER's sample, with the papers' five nearest paragraphs as retrieved.
"""


class RouteReply(BaseModel):
    """The model's whole reply, in the ids of the prompt: passages for [ANSWER], and one heading a step for [EXPAND].

    With neither the reply is [REFUSE].
    """

    model_config = ConfigDict(extra="forbid")

    answer: list[int]
    expand: int | None


class LlmRouter:
    """A `Router` that asks a model, one call a step; the prompt's variables are ``document`` and ``question``."""

    def __init__(self, model: LanguageModel, template: Template) -> None:
        self._model, self._template = model, template

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
            max_tokens=_SPARE + _TOKENS_PER_ID * (1 + len(_shown(subtree)[0])),
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
        ValueError: It is not JSON of this schema, ``answer`` names something other than a shown passage, or ``expand``
            something other than a heading. The message tells the model what to change.
    """
    try:
        value = RouteReply.model_validate_json(reply)
    except ValidationError as error:
        raise ValueError(schema_message(error)) from error
    passages, headings = _shown(subtree)
    if wrong := [number for number in value.answer if number not in passages]:
        raise ValueError(f"answer: {_listed(wrong)}: not a passage shown. Passages shown: {_listed(passages)}.")
    if value.expand is not None and value.expand not in headings:
        raise ValueError(f"expand: {value.expand} is not a heading. Name one heading marked #+, or write null.")
    answer = tuple(passages[number] for number in dict.fromkeys(value.answer))
    return Decision(answer, None if value.expand is None else headings[value.expand])


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


class LocalRouter:
    """A `Router` that compares vectors; deterministic. Best with an encoder that remembers: headings stay.

    Lit passages at least as near as `NEAR` are selected, and the nearest collapsed heading is unfolded if its path is.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """Lit passages that are near enough, and the nearest collapsed heading if it is.

        Raises:
            QueryError: The question is longer than the encoder's window.
        """
        nodes = [*subtree.lit, *subtree.collapsed]
        vectors = await encode_cut(self._encoder, [subtree.tree.nodes[i].text for i in nodes])
        cosines: Vectors = vectors @ await self._encoder.encode_query(question)
        nearness = dict(zip(nodes, map(float, cosines), strict=True))
        answer = tuple(leaf for leaf in subtree.lit if nearness[leaf] >= NEAR)
        best = max(subtree.collapsed, key=lambda heading: nearness[heading], default=None)
        return Decision(answer, best if best is not None and nearness[best] >= NEAR else None)


def router_of(backends: Toolbox) -> Router:
    """The language model if there is one, else similarity."""
    model = backends.model_for("router")
    return LlmRouter(model, backends.template("route")) if model else LocalRouter(backends.encoder)
