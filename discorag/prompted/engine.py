"""The prompted engines: graph, plan and answer as turns of one conversation (Disco-RAG section 3, figs. 11, 12, 18)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

from discorag.models.protocol import LanguageModel, Reply, Request
from discorag.prompted.conversation import Templates, messages_for
from discorag.text.citations import references, without_references
from discorag.types.case import Case, Outcome
from discorag.types.chunk_relations import EDGE_RELATIONS, ChunkRelation
from discorag.types.graph import Edge, RhetoricalGraph
from discorag.types.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a language model is asked: temperature, beam width (1: none), and output limits in tokens.

    Example:
        >>> from discorag.prompted.engine import Sampling
        >>> Sampling(temperature=0.7).plan_tokens
        512
    """

    temperature: float = 0.0
    beam_width: int = 1
    graph_tokens: int = 2048
    plan_tokens: int = 512
    answer_tokens: int = 1024


@dataclass(frozen=True)
class LlmEngine:
    """Graph, plan and answer by one language model.

    Raises:
        ModelError: From every method, when the gateway gives up; see `discorag.models.protocol`.

    Example:
        >>> from discorag.prompted.engine import LlmEngine
        >>> engine = LlmEngine(says("State the finding of [1]. Then set [2] against it."), templates)
        >>> asyncio.run(engine.plan(case)).value.paragraph
        'State the finding of [1]. Then set [2] against it.'
    """

    model: LanguageModel
    templates: Templates
    sampling: Sampling = Sampling()

    async def relate(self, case: Case) -> Outcome[RhetoricalGraph]:
        """All ordered pairs in one call (listwise, fig. 11). Fewer than two chunks need no call."""
        if len(case.chunks) < 2:
            return Outcome(value=RhetoricalGraph(chunks=tuple(c.id for c in case.chunks)))
        form = graph_form(len(case.chunks))
        request = Request(
            stage="relate",
            messages=messages_for("graph", case, self.templates, structured=True),
            parse=lambda text: graph_of(case, form, text),
            schema=form.model_json_schema(),
            max_tokens=self.sampling.graph_tokens,
            temperature=self.sampling.temperature,
            beam_width=self.sampling.beam_width,
        )
        return _outcome(await self.model.complete(request))

    async def plan(self, case: Case) -> Outcome[Plan]:
        """One paragraph that cites the chunks (fig. 12)."""
        request = Request(
            stage="plan",
            messages=messages_for("plan", _current(case), self.templates, structured=True),
            parse=lambda text: Plan(paragraph=_cited(text, case, needed=True)),
            max_tokens=self.sampling.plan_tokens,
            temperature=self.sampling.temperature,
            beam_width=self.sampling.beam_width,
        )
        return _outcome(await self.model.complete(request))

    def answer(self, case: Case, *, structured: bool) -> AsyncIterator[str | Reply[str]]:
        """Pieces of the answer as they come, at last the checked reply (fig. 18; fig. 14 when not structured)."""
        request = Request(
            stage="generate",
            messages=messages_for("answer", _current(case), self.templates, structured=structured),
            parse=lambda text: _cited(text, case, needed=False),
            max_tokens=self.sampling.answer_tokens,
            temperature=self.sampling.temperature,
            beam_width=self.sampling.beam_width,
        )
        return self.model.stream(request)


@cache
def graph_form(k: int) -> type[BaseModel]:
    """The output schema for ``k`` chunks: every source is required, so that an omission is not taken for UNRELATED."""
    strict = ConfigDict(extra="forbid")
    edge = create_model(
        "Link",
        __config__=strict,
        to=(cast("Any", Literal[tuple(range(1, k + 1))]), ...),
        rel=(cast("Any", Literal[tuple(r.value for r in EDGE_RELATIONS)]), ...),
    )
    fields: dict[str, Any] = {f"c{i}": (list[edge], Field(max_length=k - 1)) for i in range(1, k + 1)}
    return create_model("Graph", __config__=strict, **fields)


def graph_of(case: Case, form: type[BaseModel], text: str) -> RhetoricalGraph:
    """The graph that a model wrote.

    Raises:
        ValueError: Bad JSON, a missing source, an unknown label, a loop or a repeated pair.
    """
    rows: dict[str, list[dict[str, Any]]] = form.model_validate_json(text).model_dump()
    ids: list[str] = [c.id for c in case.chunks]
    edges = tuple(
        Edge(source=ids[i], target=ids[int(link["to"]) - 1], relation=ChunkRelation(link["rel"]))
        for i in range(len(ids))
        for link in rows[f"c{i + 1}"]
    )
    return RhetoricalGraph(chunks=tuple(ids), edges=edges)


def _current(case: Case) -> Case:
    """The case without the model's own words for a graph that somebody has edited since."""
    said = case.turns.get("graph")
    if said is None or case.graph is None:
        return case
    written = graph_of(case, graph_form(len(case.chunks)), said)
    return case if written.edges == case.graph.edges else replace(case, turns={})


def _cited(text: str, case: Case, *, needed: bool) -> str:
    """``text``, checked: it cites passages that exist. A number beyond them is fine where a passage writes it."""
    if not any(c.isalnum() for c in without_references(text, chunks=len(case.chunks))):
        raise ValueError("The output says nothing.")
    found, k = references(text), len(case.chunks)
    beyond = {r.chunk for r in found if r.chunk > k}
    unknown = sorted(n for n in beyond if not any(f"[{n}]" in c.text for c in case.chunks))
    if unknown:
        raise ValueError(f"It cites passages {unknown}, but there are only {k}.")
    if needed and not any(r.chunk <= k for r in found):
        raise ValueError("It cites no passage; name the passages each step uses as [1], [2], ...")
    return text


def _outcome(reply: Reply[Any]) -> Outcome[Any]:
    return Outcome(value=reply.value, text=reply.text, usage=reply.usage, prompt_hash=reply.prompt_hash)
