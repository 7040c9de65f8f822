"""The prompted engines: graph, plan and answer as turns of one conversation (Disco-RAG section 3, figs. 11, 12, 18)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from discorag.discourse.parse.layouts import Layout
from discorag.generation.prompted import limits
from discorag.generation.prompted.conversation import Templates, messages_for
from discorag.generation.prompted.graph import graph_of, graph_schema
from discorag.generation.prompted.prose import RUN, Shown, copied, marks_left, tidied
from discorag.models.protocol import AskAgainError, LanguageModel, Reply, Request
from discorag.schema.answer_inputs import AnswerInputs, Outcome
from discorag.schema.errors import InvalidOutputError, OutputTruncatedError
from discorag.schema.graph import RhetoricalGraph
from discorag.schema.ledger import Failure
from discorag.schema.plan import Plan
from discorag.schema.usage import Usage
from discorag.text.citations import marked, references, without_references, without_unknown
from discorag.text.cut_off import whole_sentences

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a language model is asked: temperature, beam width (1: none), and output limits in tokens.

    A limit of None follows the work (`discorag.generation.prompted.limits`).

    Example:
        >>> from discorag.generation.prompted.engine import Sampling
        >>> Sampling().for_plan(10), Sampling(plan_tokens=512).for_plan(10)
        (608, 512)
    """

    temperature: float = 0.0
    beam_width: int = 1
    graph_tokens: int | None = None
    plan_tokens: int | None = None
    answer_tokens: int | None = None

    def for_graph(self, k: int) -> int:
        """Limit of a graph over ``k`` passages."""
        return self.graph_tokens or limits.graph_tokens(k)

    def for_plan(self, k: int) -> int:
        """Limit of a plan over ``k`` passages."""
        return self.plan_tokens or limits.plan_tokens(k)

    def for_answer(self, k: int) -> int:
        """Limit of an answer from ``k`` passages."""
        return self.answer_tokens or limits.answer_tokens(k)


@dataclass(frozen=True)
class LlmEngine:
    """Graph, plan and answer by one language model.

    Args:
        model: The gateway.
        templates: The prompt files.
        sampling: How it is asked.
        layout: How it is shown trees.
        spent: What was paid to know the model (`discorag.generation.prompted.probe`); counted with every outcome.

    Raises:
        ModelError: From every method, when the gateway gives up; see `discorag.models.protocol`.

    Example:
        >>> from discorag.generation.prompted.engine import LlmEngine
        >>> engine = LlmEngine(says("State the finding of [1]. Then set [2] against it."), templates)
        >>> asyncio.run(engine.plan(inputs)).value.paragraph
        'State the finding of [1]. Then set [2] against it.'
    """

    model: LanguageModel
    templates: Templates
    sampling: Sampling = Sampling()
    layout: Layout = "inline"
    spent: Usage = field(default_factory=Usage)

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """All ordered pairs in one call (listwise, fig. 11). Fewer than two chunks need no call."""
        k = len(inputs.chunks)
        if k < 2:
            return Outcome(value=RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks)))
        request = self._request(
            "relate", "graph", inputs, lambda text: graph_of(inputs, text), self.sampling.for_graph(k)
        )
        return self._outcome("relate", await self.model.complete(replace(request, schema=graph_schema(k))))

    async def plan(self, inputs: AnswerInputs) -> Outcome[Plan]:
        """One paragraph that cites the chunks (fig. 12); a plan in all but its citations is used, and it is told."""
        limit = self.sampling.for_plan(len(inputs.chunks))
        request = self._request("plan", "plan", inputs, lambda text: plan_of(text, inputs), limit)
        made = self._outcome("plan", await self.model.complete(replace(request, cut=whole_sentences)))
        told = [Failure.of("plan", error, fallback="the rest of the plan") for error in _unknown(made.text, inputs)]
        made = replace(made, failures=(*made.failures, *told))
        if references(made.value.paragraph):
            return made
        uncited = InvalidOutputError("The plan cites no passage.")
        return replace(made, failures=(*made.failures, Failure.of("plan", uncited, fallback="the plan as it stands")))

    async def answer(self, inputs: AnswerInputs, *, structured: bool) -> AsyncIterator[str | Outcome[str]]:
        """Pieces of the answer as they come, at last the checked answer (fig. 18; fig. 14 when not structured)."""
        limit = self.sampling.for_answer(len(inputs.chunks))
        ask = self.templates.own_words.render()
        request = self._request(
            "generate", "answer", inputs, lambda text: answer_of(text, inputs, ask), limit, structured=structured
        )
        shown = Shown()
        async for piece in self.model.stream(replace(request, cut=whole_sentences)):
            if text := shown.push(piece) if isinstance(piece, str) else shown.rest():
                yield text
            if isinstance(piece, Reply):
                yield self._outcome("generate", piece)

    def _request(
        self,
        stage: str,
        turn: str,
        inputs: AnswerInputs,
        parse: Callable[[str], T],
        limit: int,
        *,
        structured: bool = True,
    ) -> Request[T]:
        current = inputs if turn == "graph" else _current(inputs)
        return Request(
            stage=stage,
            messages=messages_for(turn, current, self.templates, structured=structured, layout=self.layout),
            parse=parse,
            max_tokens=limit,
            temperature=self.sampling.temperature,
            beam_width=self.sampling.beam_width,
        )

    def _outcome(self, stage: str, reply: Reply[Any]) -> Outcome[Any]:
        made = outcome_of(stage, reply)
        return replace(made, usage=made.usage + self.spent)


def plan_of(text: str, inputs: AnswerInputs) -> Plan:
    """The plan that a model wrote, without citations of passages that there are not.

    Raises:
        ValueError: It says nothing.
    """
    passages = [c.text for c in inputs.chunks]
    said = without_unknown(tidied(text, passages), passages)
    _check_says(said, inputs)
    return Plan(paragraph=said)


def _unknown(text: str, inputs: AnswerInputs) -> list[InvalidOutputError]:
    """What a plan cites of passages that there are not, but for what a passage writes just so."""
    beyond = dict.fromkeys(marked(r) for r in references(text) if r.chunk > len(inputs.chunks))
    marks = [mark for mark in beyond if not any(mark in c.text for c in inputs.chunks)]
    return [InvalidOutputError(f"The plan cites {mark}; there are {len(inputs.chunks)} passages.") for mark in marks]


def answer_of(text: str, inputs: AnswerInputs, ask: str) -> str:
    """The answer that a model wrote, without what it copied of our prompts.

    Args:
        text: The output.
        inputs: With the passages.
        ask: How one that copies the passages is asked for again.

    Raises:
        ValueError: It says nothing, or cites passages that there are not. A number beyond them is fine where a passage
            writes it.
        AskAgainError: It parrots: marks are left in it, or more than `RUN` words in a row are a passage's.
    """
    passages = [c.text for c in inputs.chunks]
    said = tidied(text, passages)
    _check_says(said, inputs)
    if marks_left(said, passages):
        raise AskAgainError("It holds marks of the passages' trees.", ask)
    if (run := copied(said, passages)) > RUN:
        raise AskAgainError(f"It copies {run} words in a row from a passage, without a citation.", ask)
    beyond = {r.chunk for r in references(said) if r.chunk > len(passages)}
    if unknown := sorted(n for n in beyond if not any(f"[{n}]" in p for p in passages)):
        raise ValueError(f"It cites passages {unknown}, but there are only {len(passages)}.")
    return said


def outcome_of(stage: str, reply: Reply[T], *, kept: str = "what was whole of it") -> Outcome[T]:
    """What a reply brought; that it was cut off is told."""
    cut = OutputTruncatedError("The output was cut off at its limit.")
    failures = (Failure.of(stage, cut, fallback=kept),) if reply.cut else ()
    return Outcome(
        value=reply.value, text=reply.text, usage=reply.usage, prompt_hash=reply.prompt_hash, failures=failures
    )


def _current(inputs: AnswerInputs) -> AnswerInputs:
    """The case without the model's own words for a graph that somebody has edited since."""
    said = inputs.turns.get("graph")
    if said is None or inputs.graph is None:
        return inputs
    return inputs if graph_of(inputs, said).edges == inputs.graph.edges else replace(inputs, turns={})


def _check_says(text: str, inputs: AnswerInputs) -> None:
    if not any(c.isalnum() for c in without_references(text, chunks=len(inputs.chunks))):
        raise ValueError("The output says nothing.")
