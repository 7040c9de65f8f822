"""Disco-RAG as printed: separate calls with the inputs and outputs of its figs. 11, 12 and 18 (14 with all off).

What differs from our own conversation (`discorag.generation.prompted.engine`): the graph call sees the chunks only and
labels every ordered pair in a line of its own; plan and answer read chunks, trees and graph as three lists; nothing is
cited; every call starts from nothing, so a server's prefix cache has little to reuse. Only the fences around quoted
text are ours.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import TypeVar

from discorag.discourse.parse.as_printed import drawn
from discorag.discourse.parse.inline import escape
from discorag.generation.compression import shown_text
from discorag.generation.prompted.engine import Sampling, outcome_of
from discorag.generation.prompted.pairs import PAIR_TOKENS, Labels, pair_labels, parts, wanted
from discorag.generation.prompted.prose import tidied
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.models.tokens import likely_tokens
from discorag.schema.answer_inputs import AnswerInputs, Outcome
from discorag.schema.chunk import Chunk
from discorag.schema.chunk_relations import ChunkRelation
from discorag.schema.graph import Edge, RhetoricalGraph
from discorag.schema.plan import Plan
from discorag.text.cut_off import whole_sentences

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PaperTemplates:
    """The prompt files of the paper's pipeline and of its baselines, by figure.

    Example:
        >>> from dataclasses import fields
        >>> from discorag.generation.prompted.as_printed import PaperTemplates
        >>> figures = {field.name: prompt("paper-" + field.name.replace("_", "-")) for field in fields(PaperTemplates)}
        >>> PaperTemplates(**figures).plan.meta.name
        'paper-plan'
    """

    graph: Template  # 11
    plan: Template  # 12
    full_context: Template  # 13
    standard: Template  # 14
    retrieve_and_plan: Template  # 15
    plan_and_retrieve: Template  # 16, stage 1
    retrieved: Template  # 16, stage 2
    markers: Template  # 17
    answer: Template  # 18


@dataclass(frozen=True)
class PaperEngine:
    """Graph, plan and answer by one language model, each call on its own.

    Args:
        model: The gateway.
        templates: The prompt files.
        sampling: How the model is asked.
        context_tokens: The model's context, by which a graph of many chunks is asked for in parts; None: in one call.

    Raises:
        ModelError: From every method, when the gateway gives up; see `discorag.models.protocol`.

    Example:
        >>> from discorag.generation.prompted.as_printed import PaperEngine
        >>> from discorag.generation.prompted.engine import Sampling
        >>> engine = PaperEngine(says("First the trial [1], then the review [2]."), paper_templates, Sampling())
        >>> asyncio.run(engine.plan(inputs)).value.paragraph
        'First the trial [1], then the review [2].'
    """

    model: LanguageModel
    templates: PaperTemplates
    sampling: Sampling
    context_tokens: int | None = None

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """All ordered pairs in one call that sees the chunks alone (fig. 11). Below two chunks no call is made."""
        if len(inputs.chunks) < 2:
            return Outcome(value=RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks)))
        prompt = self.templates.graph.render(relations=", ".join(ChunkRelation), chunks=chunk_list(inputs))
        outcome = await self.pairs(prompt, len(inputs.chunks), frozenset(ChunkRelation))
        return outcome.holding(graph_of(inputs, outcome.value))

    async def pairs(self, prompt: str, k: int, known: frozenset[str]) -> Outcome[Labels]:
        """A label for every ordered pair of ``k`` chunks, as far as the model gives one.

        In one call; where its lines are more than the context holds beside the prompt, in several that all read all
        chunks, each for some sources (``counts`` says how many calls). A pair without a line is counted.
        """
        outcome: Outcome[Labels] = Outcome(value={})
        room = self._room(prompt)
        calls = list(parts(k, room // PAIR_TOKENS))
        for sources in calls:
            pairs = len(sources) * (k - 1)
            limit = max(PAIR_TOKENS * pairs, min(self.sampling.for_graph(k), room))
            read = partial(pair_labels, sources=sources, k=k, known=known)
            outcome = _joined(outcome, await self.ask("relate", prompt + wanted(sources, k), read, limit, cut=str))
        missing = k * (k - 1) - len(outcome.value)
        counts = {"pairs without a line": missing, "graph calls": len(calls) if len(calls) > 1 else 0}
        return replace(outcome, counts={name: n for name, n in counts.items() if n})

    def _room(self, prompt: str) -> int:
        """Tokens that are left beside the prompt."""
        return sys.maxsize if self.context_tokens is None else self.context_tokens - likely_tokens(prompt)

    async def plan(self, inputs: AnswerInputs) -> Outcome[Plan]:
        """One paragraph from query, chunks, trees and graph (fig. 12)."""
        prompt = self.templates.plan.render(material=material(replace(inputs, plan=None)))
        limit = self.sampling.for_plan(len(inputs.chunks))
        return await self.ask("plan", prompt, plan_of, limit, cut=whole_sentences)

    async def answer(self, inputs: AnswerInputs, *, structured: bool) -> AsyncIterator[str | Outcome[str]]:
        """The answer in one piece, then all of it (fig. 18; fig. 14 when not structured). Beams cannot be streamed."""
        template = self.templates.answer if structured else self.templates.standard
        passages = [c.text for c in inputs.chunks]
        outcome = await self.ask(
            "generate",
            template.render(material=material(inputs)),
            lambda text: tidied(answer_of(text), passages),
            self.sampling.for_answer(len(passages)),
            cut=whole_sentences,
        )
        yield outcome.value
        yield outcome

    async def ask(
        self,
        stage: str,
        prompt: str,
        parse: Callable[[str], T],
        max_tokens: int,
        *,
        before: tuple[Message, ...] = (),
        cut: Callable[[str], str] | None = None,
    ) -> Outcome[T]:
        """One call, checked by ``parse``; ``before`` are the turns before it; ``cut``: see `Request`."""
        request = Request(
            stage=stage,
            messages=(*before, Message(role="user", content=prompt)),
            parse=parse,
            cut=cut,
            max_tokens=max_tokens,
            temperature=self.sampling.temperature,
            beam_width=self.sampling.beam_width,
        )
        return outcome_of(stage, await self.model.complete(request))


def chunk_list(inputs: AnswerInputs) -> str:
    """The chunks by number, fenced and escaped, without titles, headings or trees."""
    texts = enumerate(map(shown_text, inputs.chunks), start=1)
    return "\n\n".join(f"CHUNK[{i}]:\n{fenced('chunk', escape(text))}" for i, text in texts)


def fenced(tag: str, text: str) -> str:
    """Escaped text between tags of which it can hold none."""
    return f"<{tag}>\n{text}\n</{tag}>"


def material(inputs: AnswerInputs) -> str:
    """Query, chunks and what is known of trees, graph and plan, each under its name; what is absent is not named."""
    parts = {"CHUNKS": chunk_list(inputs)}
    trees = [(i, drawn(c)) for i, c in enumerate(inputs.chunks, start=1)]
    if any(tree for _, tree in trees):
        parts["RST TREES"] = "\n\n".join(f"TREE[{i}]:\n{fenced('tree', tree)}" for i, tree in trees if tree)
    if inputs.graph is not None:
        parts["RHETORICAL GRAPH"] = graph_lines(inputs.chunks, inputs.graph)
    if inputs.plan is not None:
        parts["PLAN"] = fenced("plan", escape(inputs.plan.paragraph))
    return sections({**asked(inputs), **parts})


def asked(inputs: AnswerInputs) -> dict[str, str]:
    """The query, and how the user wants it answered."""
    how = {"HOW TO ANSWER": fenced("instruction", escape(inputs.instruction))} if inputs.instruction else {}
    return {"QUERY": fenced("query", escape(inputs.query)), **how}


def sections(parts: Mapping[str, str]) -> str:
    """Parts under their names."""
    return "\n\n".join(f"{name}:\n{text}" for name, text in parts.items())


def graph_lines(chunks: tuple[Chunk, ...], graph: RhetoricalGraph) -> str:
    """A line for every ordered pair, UNRELATED included: the graph as fig. 11 wants it written."""
    labels = {(e.source, e.target): e.relation for e in graph.edges}
    numbered = permutations(enumerate((c.id for c in chunks), start=1), 2)
    return "\n".join(
        f"CHUNK[{i}] -> CHUNK[{j}]: {labels.get((a, b), ChunkRelation.UNRELATED)}" for (i, a), (j, b) in numbered
    )


def graph_of(inputs: AnswerInputs, labels: Labels) -> RhetoricalGraph:
    """The graph that the labels of pairs make; a pair without one is UNRELATED."""
    ids = [c.id for c in inputs.chunks]
    edges = [
        Edge(source=ids[i - 1], target=ids[j - 1], relation=ChunkRelation(label))
        for (i, j), label in labels.items()
        if label != ChunkRelation.UNRELATED
    ]
    return RhetoricalGraph(chunks=tuple(ids), edges=tuple(edges))


def _joined(a: Outcome[Labels], b: Outcome[Labels]) -> Outcome[Labels]:
    return Outcome(
        value={**a.value, **b.value},
        text="\n".join(filter(None, (a.text, b.text))),
        usage=a.usage + b.usage,
        prompt_hash=a.prompt_hash or b.prompt_hash,
        failures=a.failures + b.failures,
    )


def plan_of(text: str) -> Plan:
    """The paragraph behind ``PLAN:``. Raises ``ValueError`` if it says nothing."""
    return Plan(paragraph=_behind("PLAN", text))


def answer_of(text: str) -> str:
    """The text behind ``ANSWER:``. Raises ``ValueError`` if it says nothing."""
    return _behind("ANSWER", text)


def _behind(name: str, text: str) -> str:
    """``text`` without its name in front: models leave it out now and then, and nothing is lost with it."""
    said = re.sub(rf"\A\s*{name}\b\s*:?\s*", "", text).strip()
    if not any(c.isalnum() for c in said):
        raise ValueError("The output says nothing.")
    return said
