"""The forms in which a language model is shown a document and routes: JSON, and the paper's tagged lines.

A server can enforce JSON. RDR²'s published router was trained on tagged lines (section 3.3, prompt C.2), which are read
in many styles.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from discorag.discourse.parse.inline import escape
from discorag.models.protocol import schema_message
from discorag.retrieval.routers.walk import Decision, Line, RetrievalSubtree

REFUSAL = "Cannot answer"
_PREFIX_WORDS = 3
_TAG = re.compile(r"\[\s*(ans|exp|ref)[a-z]*\s*\]", re.IGNORECASE)
_FIRST_IDS = re.compile(r"\W*(\d+(?:\s*(?:,|;|and)\s*\d+)*)")
_LINE_ID = re.compile(r"\n\W*(\d+)\s*:")
_Ids = tuple[Sequence[int], Sequence[int]]
"""Of passages for [ANSWER], of headings for [EXPAND]."""


class RouteForm(ABC):
    """How routes are asked for: by the prompt file ``prompt``, in at most ``tokens`` tokens a node."""

    prompt: str
    tokens: int

    def show(self, subtree: RetrievalSubtree) -> str:
        """One escaped line for each visible node: its id and text, indented by its depth (RDR² section 3.3).

        Texts cannot imitate lines or close fences: white space in them is single spaces, and ``& < > |`` are character
        entities.
        """
        return "\n".join(self._line(line, escape(" ".join(line.text.split()))) for line in subtree.lines)

    def read(self, reply: str, subtree: RetrievalSubtree) -> Decision:
        """The decision in a reply, without ids that are neither passages nor collapsed headings.

        Raises:
            ValueError: It has another form, or all of its ids are wrong. The message tells the model what to change.
        """
        answer, expand = self._ids(reply)
        passages, headings = _nodes(subtree, "passage"), _nodes(subtree, "collapsed")
        decision = Decision(_choose(answer, passages), _choose(expand, headings))
        if (answer or expand) and not decision.answer and not decision.expand:
            raise ValueError(
                f"No such nodes. Passages shown: {_list_ids(passages)}. "
                f"Headings that hide passages: {_list_ids(headings)}."
            )
        return decision

    @abstractmethod
    def schema(self, subtree: RetrievalSubtree) -> dict[str, Any] | None:
        """What a server is asked to enforce."""

    @abstractmethod
    def _line(self, line: Line, text: str) -> str: ...

    @abstractmethod
    def _ids(self, reply: str) -> _Ids: ...


class JsonForm(RouteForm):
    """For a model that was not trained to route. A heading is marked ``#``, a collapsed one ``#+``."""

    prompt = "route"
    tokens = 6

    def schema(self, subtree: RetrievalSubtree) -> dict[str, Any]:
        """A schema that allows only ids that can be chosen: a weak model would otherwise count up to its limit."""
        schema = RouteReply.model_json_schema()
        for name, ids in (("answer", _nodes(subtree, "passage")), ("expand", _nodes(subtree, "collapsed"))):
            items = {"enum": list(ids)} if ids else {"type": "integer"}
            schema["properties"][name] |= {"items": items, "maxItems": len(ids)}
        return schema

    def _line(self, line: Line, text: str) -> str:
        mark = {"passage": "", "heading": " #", "collapsed": " #+"}[line.kind]
        return f"{' ' * line.depth}{line.id}{mark}: {text}"

    def _ids(self, reply: str) -> _Ids:
        try:
            route = RouteReply.model_validate_json(reply)
        except ValidationError as error:
            raise ValueError(schema_message(error)) from error
        return route.answer, route.expand


class RouteReply(BaseModel):
    """The whole JSON reply, in the ids of the prompt. If both lists are empty, it is [REFUSE]."""

    model_config = ConfigDict(extra="forbid")

    answer: list[int]
    expand: list[int]


class TaggedForm(RouteForm):
    """``[ANSWER] 8: first words`` and ``[EXPAND] 7: heading``, one per line, or `REFUSAL`.

    Documents are written as the published router knows them: indented by tabs, with headings between equals signs, one
    more for each level.
    """

    prompt = "route-tagged"
    tokens = 24

    def schema(self, subtree: RetrievalSubtree) -> None:
        """None: the form is not JSON."""

    def write(self, decision: Decision, subtree: RetrievalSubtree) -> str:
        """A decision as a trained router should write it."""
        chosen = {"ANSWER": decision.answer, "EXPAND": decision.expand}
        lines = {line.node: f"{line.id}: {' '.join(line.text.split()[:_PREFIX_WORDS])}" for line in subtree.lines}
        return "\n".join(f"[{tag}] {lines[node]}" for tag, nodes in chosen.items() for node in nodes) or REFUSAL

    def _line(self, line: Line, text: str) -> str:
        mark = "" if line.kind == "passage" or not line.depth else "=" * (line.depth + 1)
        return "\t" * line.depth + f"{line.id}: {mark}{text}{mark}"

    def _ids(self, reply: str) -> _Ids:
        _, *parts = _TAG.split(reply)
        if not parts and REFUSAL.lower() not in reply.lower():
            raise ValueError(f'Write lines such as "[ANSWER] 8: first words" or "[EXPAND] 7: heading", or "{REFUSAL}".')
        found: dict[str, list[int]] = {"ans": [], "exp": [], "ref": []}
        for tag, text in zip(parts[::2], parts[1::2], strict=True):
            first = _FIRST_IDS.match(text)
            ids = [*(re.findall(r"\d+", first[1]) if first else []), *_LINE_ID.findall(text)]
            found[tag.lower()] += dict.fromkeys(map(int, ids))
        return found["ans"], found["exp"]


TAGGED = TaggedForm()
FORMS: Mapping[str, RouteForm] = {"json": JsonForm(), "tagged": TAGGED}


def _nodes(subtree: RetrievalSubtree, kind: Literal["passage", "collapsed"]) -> dict[int, int]:
    """The nodes of a kind by their ids in the prompt."""
    return {line.id: line.node for line in subtree.lines if line.kind == kind}


def _choose(ids: Sequence[int], nodes: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(nodes[i] for i in dict.fromkeys(ids) if i in nodes)


def _list_ids(ids: Mapping[int, int]) -> str:
    return ", ".join(map(str, ids)) or "none"
