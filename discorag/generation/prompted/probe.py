"""What a language model can do, found out by one call over fixed passages, whose reply is stored on disk.

It answers a question about two short passages with marked trees and writes their graph, in one JSON object. Whether it
copies marks, cites, and keeps to the schema says how it is shown trees, and which turns are left to the local engines.
"""

import asyncio
import json
from dataclasses import dataclass, field
from functools import cache
from time import monotonic
from typing import Any

from discorag.discourse.parse.inline import Layout
from discorag.discourse.parse.rules import rule_tree
from discorag.generation.prompted.conversation import Templates, conversation, graph_of, graph_schema
from discorag.generation.prompted.engine import SPARE, graph_tokens, marks_left
from discorag.models.loops import PerLoop
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk
from discorag.schema.errors import ModelError, ModelUnavailableError, Usage
from discorag.schema.values import Span
from discorag.text.citations import references
from discorag.text.sentences import sentence_spans

QUESTION = "Do open windows keep the hall dry?"
PASSAGES = (
    "The hall stays dry if its windows are open, because the wind carries the damp away. It was built in 1904.",
    "Open windows did not keep the hall dry in autumn. However, in summer they did.",
)
ANSWER_CHARACTERS = 600
LATER_S = 30.0
"""How many seconds a model whose test failed is assumed to be able to do everything."""


@dataclass(frozen=True)
class Ability:
    """What a model can do; it is assumed to be able to do what was not tested.

    ``unknown`` says why nothing is known. ``chosen`` is the configured layout; None: the ability decides.
    """

    reads_marks: bool = True
    cites: bool = True
    keeps_schema: bool = True
    unknown: str = ""
    chosen: Layout | None = None

    @property
    def layout(self) -> Layout:
        """As configured, else ``inline`` if the model can read marks."""
        return self.chosen or ("inline" if self.reads_marks else "plain")

    def makes(self, stage: str) -> bool:
        """Whether a stage (``relate``, ``plan``, ``generate``) is left to the model; prose always is."""
        return {"relate": self.keeps_schema, "plan": self.reads_marks and self.cites}.get(stage, True)

    def __str__(self) -> str:
        if self.unknown or self.chosen:
            return f"trees {self.layout}; {self.unknown or 'as configured'}"
        engines = ", ".join(f"{s} {'llm' if self.makes(s) else 'local'}" for s in ("relate", "plan", "generate"))
        return f"trees {self.layout}; {engines}"


@dataclass
class Prober:
    """Finds out once what a model can do, at the first question or ``disco-rag status``; ``template`` asks for both."""

    model: LanguageModel
    templates: Templates
    template: Template
    _known: Ability | None = None
    _until: float = 0.0
    _owed: Usage = field(default_factory=Usage)
    _locks: PerLoop[asyncio.Lock] = field(default_factory=lambda: PerLoop(asyncio.Lock))

    async def ability(self) -> Ability:
        """What the model can do; for a while it is assumed to be able to do everything if the call fails.

        Raises:
            ModelUnavailableError: The model cannot be reached.
        """
        async with await self._locks.get():
            if self._known is None or monotonic() > self._until:
                self._known, self._until = await self._found()
            return self._known

    def owed(self) -> Usage:
        """The cost of the call; it is returned once, and zero afterwards."""
        owed, self._owed = self._owed, Usage()
        return owed

    async def _found(self) -> tuple[Ability, float]:
        try:
            reply = await self.model.complete(self._request())
        except ModelUnavailableError:
            raise  # the next call would fail, too
        except ModelError as error:
            self._owed += error.usage or Usage()
            return Ability(unknown=f"not known: {error}"), monotonic() + LATER_S
        self._owed += reply.usage
        return reply.value, float("inf")

    def _request(self) -> Request[Ability]:
        inputs = probe_inputs()
        turns = [Message(role="user", content=self.template.render())]
        return Request(
            stage="probe",
            messages=conversation(inputs, self.templates, turns, "inline"),
            parse=ability_of,
            cut=str,
            schema=probe_schema(),
            max_tokens=SPARE + ANSWER_CHARACTERS // 2 + graph_tokens(len(inputs.chunks)),
        )


@cache
def probe_inputs() -> AnswerInputs:
    """The question and the fixed passages, with trees by rules."""
    return AnswerInputs(query=QUESTION, chunks=tuple(_chunk(i, text) for i, text in enumerate(PASSAGES)))


def _chunk(order: int, text: str) -> Chunk:
    chunk = Chunk(
        id=f"probe-{order}",
        doc_id=f"probe-{order}",
        order=0,
        span=Span(start=0, end=len(text)),
        text=text,
        sentences=sentence_spans(text),
        title="The hall",
    )
    return chunk.model_copy(update={"tree": rule_tree(chunk)})


def probe_schema() -> dict[str, Any]:
    """The schema of an answer with its graph."""
    graph = dict(graph_schema(len(PASSAGES)))
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": ANSWER_CHARACTERS}, "graph": graph},
        "required": ["answer", "graph"],
        "additionalProperties": False,
        "$defs": graph.pop("$defs"),
    }


def ability_of(text: str) -> Ability:
    """The abilities that a reply shows; one that is not JSON is read as an answer."""
    answer, keeps_schema = text, False
    try:
        reply = json.loads(text)
        answer = str(reply["answer"])
        graph_of(probe_inputs(), json.dumps(reply["graph"]))
        keeps_schema = True
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    cited = any(r.chunk <= len(PASSAGES) for r in references(answer))
    return Ability(reads_marks=not marks_left(answer, PASSAGES), cites=cited, keeps_schema=keeps_schema)
