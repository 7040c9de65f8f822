"""The routers: a language model that answers by number, and one that compares vectors instead.

Source: RDR² sections 3.1 and 3.3, prompt C.2. Routing by similarity is ours.
"""

from discorag.discourse.parse.inline import escape
from discorag.models.protocol import Encoder, LanguageModel, Message, Request, Template
from discorag.models.toolbox import Toolbox
from discorag.retrieval.builders.base import encode_cut
from discorag.retrieval.routers.forms import LINE_TOKENS, read_decision, show_subtree
from discorag.retrieval.routers.walk import STAGE, Decision, RetrievalSubtree, Router
from discorag.schema.values import Vectors

_SPARE = 64
NEAR = 0.4
"""The least cosine with the question for a passage to be selected or a heading to be unfolded (packaged MiniLM).

It was fitted on little data: 33 questions about 7 papers of QASPER's sample, with the five nearest paragraphs.
"""


class LlmRouter:
    """A `Router` that calls a model once a step; the prompt's variables are ``document`` and ``question``."""

    def __init__(self, model: LanguageModel, template: Template) -> None:
        self._model, self._template = model, template

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """What the model selects and unfolds.

        Raises:
            ModelError: The call failed, or the reply cannot be read even after one repair.
        """
        choices = len(subtree.passages) + len(subtree.collapsed)
        request = Request(
            stage=STAGE,
            messages=(Message(role="user", content=route_prompt(self._template, question, subtree)),),
            parse=lambda reply: read_decision(reply, subtree),
            max_tokens=_SPARE + LINE_TOKENS * (1 + choices),
        )
        reply = await self._model.complete(request)
        return Decision(reply.value.answer, reply.value.expand, reply.usage)


def route_prompt(template: Template, question: str, subtree: RetrievalSubtree) -> str:
    """The prompt of one step."""
    return template.render(document=show_subtree(subtree), question=escape(question))


class LocalRouter:
    """A `Router` that compares vectors. Steps show the same headings again, so the encoder should have a memory."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """The visible passages and the nearest collapsed heading, as far as their cosines reach `NEAR`.

        Raises:
            QueryError: The question is longer than the encoder's window.
        """
        nodes = [*subtree.passages, *subtree.collapsed]
        vectors = await encode_cut(self._encoder, [subtree.tree.nodes[i].text for i in nodes])
        cosines: Vectors = vectors @ await self._encoder.encode_query(question)
        nearness = dict(zip(nodes, map(float, cosines), strict=True))
        best = sorted(subtree.collapsed, key=lambda heading: -nearness[heading])[:1]
        answer, expand = (tuple(node for node in near if nearness[node] >= NEAR) for near in (subtree.passages, best))
        return Decision(answer, expand)


def router_of(backends: Toolbox) -> Router:
    """The language model if one is configured, otherwise similarity."""
    model = backends.model_for("router")
    return LlmRouter(model, backends.template("route")) if model else LocalRouter(backends.encoder)
