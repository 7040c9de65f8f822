"""The router: a language model that is shown a part of a document, and answers in lines that choose nodes.

Source: RDR² sections 3.1 and 3.3, and prompt C.2. Its published router was trained on such lines. Replies are read in
many styles.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from discorag.discourse.parse.inline import escape
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.models.toolbox import Toolbox
from discorag.retrieval.routers.walk import STAGE, Decision, RetrievalSubtree

REFUSAL = "Cannot answer"
_LINE_TOKENS = 24  # most tokens of a line that chooses a node
_SPARE = 64
_TAG = re.compile(r"\[\s*(ans|exp|ref)[a-z]*\s*\]", re.IGNORECASE)
_FIRST_IDS = re.compile(r"\W*(\d+(?:\s*(?:,|;|and)\s*\d+)*)")
_LINE_ID = re.compile(r"\n\W*(\d+)\s*:")


class LlmRouter:
    """A `Router` that calls a model once a step; the prompt's variables are ``document`` and ``question``."""

    def __init__(self, model: LanguageModel, template: Template) -> None:
        self._model, self._template = model, template

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """See `Router.decide`. Raises as `LanguageModel.complete`."""
        choices = len(subtree.passages) + len(subtree.collapsed)
        request = Request(
            stage=STAGE,
            messages=(Message(role="user", content=route_prompt(self._template, question, subtree)),),
            parse=lambda reply: read_decision(reply, subtree),
            max_tokens=_SPARE + _LINE_TOKENS * (1 + choices),
        )
        reply = await self._model.complete(request)
        return Decision(reply.value.answer, reply.value.expand, reply.usage)


def router_of(backends: Toolbox) -> LlmRouter:
    """The router of the configured language model. Raises `ConfigError` if there is none."""
    return LlmRouter(backends.require_model("router"), backends.template("route"))


def route_prompt(template: Template, question: str, subtree: RetrievalSubtree) -> str:
    """The prompt of one step, with a line for each visible node: its id and text, indented by tabs.

    Headings are between equals signs. Texts cannot imitate lines or close fences: white space in them is single spaces,
    and ``& < >`` are character entities.
    """
    lines: list[str] = []
    for line in subtree.lines:
        mark = "" if line.kind == "passage" or not line.depth else "=" * (line.depth + 1)
        lines.append("\t" * line.depth + f"{line.id}: {mark}{escape(' '.join(line.text.split()))}{mark}")
    return template.render(document="\n".join(lines), question=escape(question))


def read_decision(reply: str, subtree: RetrievalSubtree) -> Decision:
    """The decision in a reply, without ids that are neither passages nor collapsed headings.

    Raises:
        ValueError: It has another form, or all of its ids are wrong. The message tells the model what to change.
    """
    ids = _tagged_ids(reply)
    passages, headings = _nodes(subtree, "passage"), _nodes(subtree, "collapsed")
    decision = Decision(_choose(ids["ans"], passages), _choose(ids["exp"], headings))
    if (ids["ans"] or ids["exp"]) and not decision.answer and not decision.expand:
        shown, hiding = (", ".join(map(str, nodes)) or "none" for nodes in (passages, headings))
        raise ValueError(f"No such nodes. Passages shown: {shown}. Headings that hide passages: {hiding}.")
    return decision


def _tagged_ids(reply: str) -> dict[str, list[int]]:
    """The ids after each tag, by the first letters of the tags."""
    _, *parts = _TAG.split(reply)
    if not parts and REFUSAL.lower() not in reply.lower():
        raise ValueError(f'Write lines such as "[ANSWER] 8: first words" or "[EXPAND] 7: heading", or "{REFUSAL}".')
    found: dict[str, list[int]] = {"ans": [], "exp": [], "ref": []}
    for tag, text in zip(parts[::2], parts[1::2], strict=True):
        first = _FIRST_IDS.match(text)
        ids = [*(re.findall(r"\d+", first[1]) if first else []), *_LINE_ID.findall(text)]
        found[tag.lower()] += dict.fromkeys(map(int, ids))
    return found


def _nodes(subtree: RetrievalSubtree, kind: Literal["passage", "collapsed"]) -> dict[int, int]:
    """The nodes of a kind by their ids in the prompt."""
    return {line.id: line.node for line in subtree.lines if line.kind == kind}


def _choose(ids: Sequence[int], nodes: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(nodes[i] for i in dict.fromkeys(ids) if i in nodes)
