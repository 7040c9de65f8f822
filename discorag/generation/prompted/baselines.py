"""The baselines that Disco-RAG is compared with (tables 2, 4 and 9), by the prompts of its figs. 13, 15, 16 and 17."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from pydantic import BaseModel, ConfigDict

from discorag.discourse.parse.inline import escape
from discorag.generation.prompted.as_printed import (
    PaperEngine,
    answer_of,
    asked,
    chunk_list,
    fenced,
    material,
    plan_of,
    sections,
)
from discorag.generation.prompted.pairs import Labels
from discorag.models.protocol import Message
from discorag.schema.answer_inputs import AnswerInputs, Outcome
from discorag.schema.chunk import Chunk
from discorag.schema.plan import Plan
from discorag.text.cut_off import whole_sentences

MARKERS = (
    "however",
    "but",
    "although",
    "in contrast",
    "therefore",
    "because",
    "as a result",
    "meanwhile",
    "moreover",
    "furthermore",
    "for example",
    "for instance",
    "in addition",
)
"""The connectives of fig. 17, in its order."""
NONE = "NONE"

_PLAN_ANSWER = re.compile(r"\s*(PLAN\b.*?)\n\s*(ANSWER\b.*)", re.DOTALL)
_PLAN_HINT = re.compile(r"\s*(PLAN\b.*?)\n\s*RETRIEVAL HINT\b\s*:?(.*)", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*•]\s*|\d{1,2}[.)]\s+)?(.*?)\s*$")
MAX_QUERIES = 10


class Link(BaseModel):
    """A connective that leads from chunk ``source`` to chunk ``target`` (chunk ids).

    Example:
        >>> from discorag.generation.prompted.baselines import Link
        >>> link = Link(source="trial", target="review", marker="however")
        >>> f"{link.source}; {link.marker}, {link.target}"
        'trial; however, review'
    """

    model_config = ConfigDict(frozen=True)

    source: str
    target: str
    marker: str


@dataclass(frozen=True)
class Hint:
    """What a model plans before it has seen evidence: a plan and the queries to retrieve for it.

    Example:
        >>> from discorag.generation.prompted.baselines import hint_of
        >>> hint_of('''PLAN: Compare trials.
        ... RETRIEVAL HINT:
        ... - vitamin D trials''').queries
        ('vitamin D trials',)
    """

    plan: Plan
    queries: tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """A plan and the answer written after it, in one call.

    Example:
        >>> from discorag.generation.prompted.baselines import planned_of
        >>> planned_of('''PLAN: Compare trials.
        ... ANSWER: They disagree.''').answer
        'They disagree.'
    """

    plan: Plan
    answer: str


@dataclass(frozen=True)
class Baselines:
    """The calls of the four baselines.

    Raises:
        ModelError: From every method, when the gateway gives up; see `discorag.models.protocol`.

    Example:
        >>> from discorag.generation.prompted.as_printed import PaperEngine
        >>> from discorag.generation.prompted.baselines import Baselines
        >>> from discorag.generation.prompted.engine import Sampling
        >>> baselines = Baselines(PaperEngine(says("They disagree."), paper_templates, Sampling()))
        >>> asyncio.run(baselines.full_context(inputs)).value
        'They disagree.'
    """

    engine: PaperEngine

    async def full_context(self, inputs: AnswerInputs) -> Outcome[str]:
        """Answer from whole documents, without retrieval (fig. 13)."""
        prompt = self.engine.templates.full_context.render(
            material=sections({**asked(inputs), "DOCUMENTS": document_list(inputs)})
        )
        return await self._answer(prompt, inputs)

    async def retrieve_and_plan(self, inputs: AnswerInputs) -> Outcome[Planned]:
        """Plan and answer in one call over the chunks (fig. 15)."""
        prompt = self.engine.templates.retrieve_and_plan.render(material=material(inputs))
        k = len(inputs.chunks)
        limit = self.engine.sampling.for_plan(k) + self.engine.sampling.for_answer(k)
        return await self.engine.ask("generate", prompt, planned_of, limit)

    async def hint(self, query: str) -> Outcome[Hint]:
        """A plan and queries from the user's query alone (fig. 16, stage 1)."""
        prompt = self._hint_prompt(query)
        return await self.engine.ask("plan", prompt, hint_of, self.engine.sampling.for_plan(MAX_QUERIES))

    async def after_hint(self, inputs: AnswerInputs) -> Outcome[str]:
        """Answer from what the queries brought; stage 1 stands before it as a turn (fig. 16, stage 2).

        Where stage 1 failed there is no plan to follow, and it is standard RAG (fig. 14).
        """
        said = inputs.turns.get("hint")
        if not said:
            return await self._answer(self.engine.templates.standard.render(material=material(inputs)), inputs)
        first = Message(role="user", content=self._hint_prompt(inputs.query))
        before = (first, Message(role="assistant", content=said))
        return await self._answer(self.engine.templates.retrieved.render(material=material(inputs)), inputs, before)

    async def mark(self, inputs: AnswerInputs) -> Outcome[tuple[Link, ...]]:
        """A connective or NONE for every ordered pair, in one call (fig. 17)."""
        ids = [c.id for c in inputs.chunks]
        if len(ids) < 2:
            return Outcome(value=())
        prompt = self.engine.templates.markers.render(markers=", ".join(MARKERS), chunks=chunk_list(inputs))
        outcome = await self.engine.pairs(prompt, len(ids), frozenset({*MARKERS, NONE}))
        return outcome.holding(links_of(ids, outcome.value))

    async def marked(self, inputs: AnswerInputs, links: Sequence[Link]) -> Outcome[str]:
        """Answer as in standard RAG (fig. 14), the connectives beside the chunks (appendix F)."""
        lines = [f"CHUNK[{inputs.number(li.source)}] -> CHUNK[{inputs.number(li.target)}]: {li.marker}" for li in links]
        text = material(inputs) + "\n\n" + sections({"DISCOURSE MARKERS": "\n".join(lines) or NONE})
        return await self._answer(self.engine.templates.standard.render(material=text), inputs)

    async def _answer(self, prompt: str, inputs: AnswerInputs, before: tuple[Message, ...] = ()) -> Outcome[str]:
        limit = self.engine.sampling.for_answer(len(inputs.chunks))
        return await self.engine.ask("generate", prompt, answer_of, limit, before=before, cut=whole_sentences)

    def _hint_prompt(self, query: str) -> str:
        return self.engine.templates.plan_and_retrieve.render(query=fenced("query", escape(query)))


def document_list(inputs: AnswerInputs) -> str:
    """The chunks put together again, document by document, fenced and escaped."""
    texts = [_rejoined(tuple(chunks)) for _, chunks in groupby(inputs.chunks, key=lambda c: c.doc_id)]
    return "\n\n".join(f"DOCUMENT[{i}]:\n{fenced('document', escape(t))}" for i, t in enumerate(texts, start=1))


def _rejoined(chunks: Sequence[Chunk]) -> str:
    """A document's text from its chunks in order; the white space that stood between two becomes a line break."""
    gaps = ("" if a.span.end == b.span.start else "\n" for a, b in pairwise(chunks))
    return chunks[0].text + "".join(gap + c.text for gap, c in zip(gaps, chunks[1:], strict=True))


def planned_of(text: str) -> Planned:
    """Plan and answer from a reply. Raises ``ValueError`` if one of them is missing or says nothing."""
    found = _PLAN_ANSWER.fullmatch(text)
    if found is None:
        raise ValueError("Write PLAN and a paragraph, then, on a new line, ANSWER and the answer.")
    return Planned(plan_of(found[1]), answer_of(found[2]))


def hint_of(text: str) -> Hint:
    """Plan and queries from a reply, one query a line; at most `MAX_QUERIES` are kept.

    Raises:
        ValueError: One of the two is missing.
    """
    found = _PLAN_HINT.fullmatch(text)
    lines = found[2].split("\n") if found else []
    bare = (match[1].strip("\"'“”") for line in lines if (match := _BULLET.fullmatch(line)))
    queries = tuple(dict.fromkeys(filter(None, bare)))
    if found is None or not queries:
        raise ValueError("Write PLAN and a paragraph, then, on a new line, RETRIEVAL HINT and one query a line.")
    return Hint(plan_of(found[1]), queries[:MAX_QUERIES])


def links_of(ids: Sequence[str], labels: Labels) -> tuple[Link, ...]:
    """The links that the labels of pairs make; NONE is no link, nor is a pair without a label."""
    found = ((ids[i - 1], ids[j - 1], marker) for (i, j), marker in labels.items() if marker != NONE)
    return tuple(Link(source=a, target=b, marker=marker) for a, b, marker in found)
