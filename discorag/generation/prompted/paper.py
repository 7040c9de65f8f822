"""Disco-RAG as printed: its pipeline (figs. 11, 12 and 18; 14 with all off) and its baselines (figs. 13, 15, 16, 17).

What differs from our own answers (`discorag.answering`): the graph call sees the chunks only and labels every ordered
pair in a line of its own; plan and answer are calls of their own; nothing is cited.

The paper does not print how chunks, trees and graph are written into the prompts of plan and answer. Here each chunk
is there once, with its source's name and its tree marked in it, and of the graph only the pairs that are related.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any, TypeVar, cast

from discorag.discourse.parse.inline import code_table, mark
from discorag.generation.narrowing import GAP, shown_text
from discorag.generation.prompted.pairs import RELATIONS, Labels, pair_labels
from discorag.generation.prompted.prose import SPARE, Sampling, marks_left, outcome_of, plan_tokens, said_in
from discorag.models.protocol import LanguageModel, Message, Request, Template
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Edge, Plan, RhetoricalGraph
from discorag.schema.document import Chunk
from discorag.text.fences import fence_name, fenced
from discorag.text.replies import parts_of, whole_sentences, without_fences
from discorag.text.sources import source_name

PAIR_TOKENS = 24
"""Output tokens allowed for one line."""

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

_BULLET = re.compile(r"\s*(?:[-*•]\s*|\d{1,2}[.)]\s+)?(.*?)\s*$")
MAX_QUERIES = 10
_LONGEST_QUERY = 200  # characters, which fit into the window of every encoder


T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PaperTemplates:
    """The prompt files of the paper's pipeline and of its baselines, by figure."""

    graph: Template  # 11
    graph_query: Template  # what is added to 11 if the call is shown the query
    plan: Template  # 12
    full_context: Template  # 13
    standard: Template  # 14
    retrieve_and_plan: Template  # 15
    plan_and_retrieve: Template  # 16, stage 1
    retrieved: Template  # 16, stage 2
    markers: Template  # 17
    answer: Template  # 18
    trees: Template  # how trees are written in 12 and 18


@dataclass(frozen=True)
class PaperEngine:
    """Graph, plan and answer by one language model, each call on its own; then the calls of the four baselines.

    Raises:
        ModelError: From every method, when the gateway gives up; see `discorag.models.protocol`.
    """

    model: LanguageModel
    templates: PaperTemplates
    sampling: Sampling
    graph_query: bool = False

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """All ordered pairs in one call that sees the chunks alone (fig. 11), unless the options show it the query.

        Below two chunks no call is made.
        """
        if len(inputs.chunks) < 2:
            return Outcome(value=RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks)))
        focus = self.templates.graph_query.render(query=fenced("query", inputs.query)) if self.graph_query else ""
        prompt = self.templates.graph.render(query=focus and f"\n\n{focus}", chunks=chunk_list(inputs))
        outcome = await self.pairs(prompt, len(inputs.chunks), RELATIONS, other=ChunkRelation.UNRELATED)
        return outcome.holding(graph_of(inputs, outcome.value))

    async def pairs(self, prompt: str, k: int, names: Mapping[str, str], *, other: str) -> Outcome[Labels]:
        """The model's labels for the ordered pairs of ``k`` chunks (see `pair_labels`); missing ones are counted."""
        pairs = k * (k - 1)
        limit = SPARE + PAIR_TOKENS * pairs
        read = partial(pair_labels, k=k, names=names, other=other)
        outcome = await self.ask("relate", prompt, read, limit, cut=str)
        missing = pairs - len(outcome.value)
        return replace(outcome, counts={"pairs without a line": missing} if missing else {})

    async def plan(self, inputs: AnswerInputs) -> Outcome[Plan]:
        """One paragraph from query, chunks, trees and graph (fig. 12)."""
        prompt = self.templates.plan.render(material=self._material(replace(inputs, plan=None)))
        limit = plan_tokens(len(inputs.chunks))
        read = partial(_without_marks, passages=[c.text for c in inputs.chunks])
        return await self.ask("plan", prompt, lambda text: plan_of(read(text)), limit, cut=whole_sentences)

    async def answer(self, inputs: AnswerInputs, *, structured: bool) -> AsyncIterator[str | Outcome[str]]:
        """The answer in one piece, then all of it (fig. 18; fig. 14 when not structured). Beams cannot be streamed."""
        template = self.templates.answer if structured else self.templates.standard
        prompt = template.render(material=self._material(inputs))
        limit = self.sampling.for_answer(len(inputs.chunks))
        read = partial(_without_marks, passages=[c.text for c in inputs.chunks])
        outcome = await self.ask("generate", prompt, lambda text: read(answer_of(text)), limit, cut=whole_sentences)
        yield outcome.value
        yield outcome

    def _material(self, inputs: AnswerInputs) -> str:
        trees = [chunk.tree for chunk in inputs.chunks if chunk.tree]
        named = dict.fromkeys(split.relation for tree in trees for split in tree.splits)
        return material(inputs, reading=self.templates.trees.render(codes=code_table(named)))

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

    async def full_context(self, inputs: AnswerInputs) -> Outcome[str]:
        """Answer from whole documents, without retrieval (fig. 13)."""
        return await self._answer(self.full_context_prompt(inputs), inputs)

    def full_context_prompt(self, inputs: AnswerInputs) -> str:
        """The prompt of `full_context`."""
        parts = {**query_parts(inputs), "DOCUMENTS": document_list(inputs)}
        return self.templates.full_context.render(material=sections(parts))

    async def retrieve_and_plan(self, inputs: AnswerInputs) -> Outcome[tuple[Plan, str]]:
        """Plan and answer in one call over the chunks (fig. 15)."""
        prompt = self.templates.retrieve_and_plan.render(material=material(inputs))
        k = len(inputs.chunks)
        limit = plan_tokens(k) + self.sampling.for_answer(k)
        return await self.ask("generate", prompt, planned_of, limit)

    async def hint(self, query: str) -> Outcome[tuple[Plan, tuple[str, ...]]]:
        """A plan and queries from the user's query alone (fig. 16, stage 1)."""
        prompt = self._hint_prompt(query)
        return await self.ask("plan", prompt, hint_of, plan_tokens(MAX_QUERIES))

    async def answer_after_hint(self, inputs: AnswerInputs) -> Outcome[str]:
        """Answer from what the queries found, in the turn after the hint (fig. 16, stage 2).

        If the hint (stage 1) failed, this is standard RAG (fig. 14).
        """
        hint = inputs.turns.get("hint")
        if not hint:
            return await self._answer(self.templates.standard.render(material=material(inputs)), inputs)
        first = Message(role="user", content=self._hint_prompt(inputs.query))
        before = (first, Message(role="assistant", content=hint))
        return await self._answer(self.templates.retrieved.render(material=material(inputs)), inputs, before)

    async def find_markers(self, inputs: AnswerInputs) -> Outcome[list[str]]:
        """A line for each ordered pair that a connective joins, in one call (fig. 17)."""
        k = len(inputs.chunks)
        if k < 2:
            return Outcome(value=[])
        prompt = self.templates.markers.render(markers=", ".join(MARKERS), chunks=chunk_list(inputs))
        outcome = await self.pairs(prompt, k, {name: name for name in (*MARKERS, NONE)}, other=NONE)
        found = ((pair, marker) for pair, marker in outcome.value.items() if marker != NONE)
        return outcome.holding([f"CHUNK[{i}] -> CHUNK[{j}]: {marker}" for (i, j), marker in found])

    async def answer_with_markers(self, inputs: AnswerInputs, lines: Sequence[str]) -> Outcome[str]:
        """Answer as in standard RAG (fig. 14), the connectives after the chunks (appendix F)."""
        text = material(inputs) + "\n\n" + sections({"DISCOURSE MARKERS": "\n".join(lines) or NONE})
        return await self._answer(self.templates.standard.render(material=text), inputs)

    async def _answer(self, prompt: str, inputs: AnswerInputs, before: tuple[Message, ...] = ()) -> Outcome[str]:
        limit = self.sampling.for_answer(len(inputs.chunks))
        return await self.ask("generate", prompt, answer_of, limit, before=before, cut=whole_sentences)

    def _hint_prompt(self, query: str) -> str:
        return self.templates.plan_and_retrieve.render(query=fenced("query", query))


def _without_marks(text: str, passages: Sequence[str]) -> str:
    """Raises ``ValueError`` where marks of the chunks' trees are left among words that no passage has."""
    clean = said_in(text, passages)
    if marks_left(clean, passages):
        raise ValueError("The output holds marks of the chunks' trees, such as {1<elab}. Write it without them.")
    return clean


def material(inputs: AnswerInputs, *, reading: str = "") -> str:
    """Query, chunks with their trees, graph and plan, each part under its name; a part that is absent is not named.

    ``reading`` says how the trees that are marked in the chunks are to be read.
    """
    parts = {"CHUNKS": _blocks("chunk", [(source_name(c), _chunk_text(c)) for c in inputs.chunks])}
    if any(chunk.tree for chunk in inputs.chunks):
        parts["RST TREES"] = reading
    if inputs.graph is not None:
        parts["RHETORICAL GRAPH"] = graph_lines(inputs.chunks, inputs.graph)
    if inputs.plan is not None:
        parts["PLAN"] = fenced("plan", inputs.plan.paragraph)
    return sections({**query_parts(inputs), **parts})


def _chunk_text(chunk: Chunk) -> str:
    """The text of a chunk, with gaps where it was narrowed, and with its tree if it has one."""
    if chunk.tree:
        return mark(chunk.text, chunk.tree, offset=chunk.span.start, gap=GAP)
    return shown_text(chunk)


def chunk_list(inputs: AnswerInputs) -> str:
    """The chunks by number, each with its source's name, without trees."""
    return _blocks("chunk", [(source_name(chunk), shown_text(chunk)) for chunk in inputs.chunks])


def _blocks(word: str, named: Sequence[tuple[str, str]]) -> str:
    """Texts by number below the names of their sources, each between tags that none of them has."""
    names, texts = [name for name, _ in named], [text for _, text in named]
    tag, title = fence_name(word, texts), fence_name("title", names)
    heads = (f"<{title}>{name}</{title}>\n" if name else "" for name in names)
    return "\n\n".join(
        f"{word.upper()}[{i}]:\n{head}<{tag}>\n{text}\n</{tag}>"
        for i, (head, text) in enumerate(zip(heads, texts, strict=True), start=1)
    )


def query_parts(inputs: AnswerInputs) -> dict[str, str]:
    """The query, and how the user wants it answered."""
    how = {"HOW TO ANSWER": fenced("instruction", inputs.instruction)} if inputs.instruction else {}
    return {"QUERY": fenced("query", inputs.query), **how}


def sections(parts: Mapping[str, str]) -> str:
    """Parts under their names."""
    return "\n\n".join(f"{name}:\n{text}" for name, text in parts.items())


def graph_lines(chunks: tuple[Chunk, ...], graph: RhetoricalGraph) -> str:
    """A line for every related pair, as fig. 11 writes it, sorted; one sentence for all others."""
    numbers = {chunk.id: i for i, chunk in enumerate(chunks, start=1)}
    related = sorted((numbers[e.source], numbers[e.target], e.relation) for e in graph.edges)
    lines = [f"CHUNK[{i}] -> CHUNK[{j}]: {relation}" for i, j, relation in related]
    return "\n".join([*lines, f"{'All other' if lines else 'All'} ordered pairs are UNRELATED."])


def graph_of(inputs: AnswerInputs, labels: Labels) -> RhetoricalGraph:
    """The graph with these labels; a pair without a label is UNRELATED."""
    ids = [c.id for c in inputs.chunks]
    edges = [
        Edge(source=ids[i - 1], target=ids[j - 1], relation=ChunkRelation(label))
        for (i, j), label in labels.items()
        if label != ChunkRelation.UNRELATED
    ]
    return RhetoricalGraph(chunks=tuple(ids), edges=tuple(edges))


def plan_of(text: str) -> Plan:
    """The paragraph under ``PLAN:``. Raises ``ValueError`` if it says nothing."""
    return Plan(paragraph=_saying(_under("PLAN", text)))


def answer_of(text: str) -> str:
    """The text under ``ANSWER:``. Raises ``ValueError`` if it says nothing."""
    return _saying(_under("ANSWER", text))


def _under(name: str, text: str) -> str:
    """Models omit the name now and then; the whole reply is taken then."""
    return parts_of(text, name).get(name, without_fences(text).strip())


_WRAPPED = re.compile(r"<(\w+)>(?P<tagged>.*)</\1>|<(?P<copied>[^<>]*)>", re.DOTALL)
_NOTHING = re.compile(r"\W*(?:none|null|n/?a|无|没有)?\W*", re.IGNORECASE)


def _saying(text: str) -> str:
    """The text without tags or the template's brackets around it. Raises ``ValueError`` if it says nothing."""
    wrapped = _WRAPPED.fullmatch(text.strip())
    said = (wrapped["tagged"] or wrapped["copied"] or "").strip() if wrapped else text.strip()
    if _NOTHING.fullmatch(said):
        raise ValueError("The output says nothing.")
    return said


def without_structure(inputs: AnswerInputs) -> AnswerInputs:
    """The inputs without trees, graph and plan: baselines read chunks only."""
    chunks = tuple(c.model_copy(update={"tree": None}) for c in inputs.chunks)
    return replace(inputs, chunks=chunks, graph=None, plan=None)


def document_list(inputs: AnswerInputs) -> str:
    """The chunks, joined by document, each document with its name."""
    documents = [tuple(chunks) for _, chunks in groupby(inputs.chunks, key=lambda c: c.doc_id)]
    names = (source_name(chunks[0].model_copy(update={"headings": ()})) for chunks in documents)
    return _blocks("document", list(zip(names, map(_rejoin, documents), strict=True)))


def _rejoin(chunks: Sequence[Chunk]) -> str:
    """A document's text from its chunks in order; the white space that stood between two becomes a line break."""
    gaps = ("" if a.span.end == b.span.start else "\n" for a, b in pairwise(chunks))
    return chunks[0].text + "".join(gap + c.text for gap, c in zip(gaps, chunks[1:], strict=True))


def planned_of(text: str) -> tuple[Plan, str]:
    """The plan and the answer in a reply. Raises ``ValueError`` if one of them is missing or empty."""
    parts = parts_of(text, "PLAN", "ANSWER")
    if len(parts) < 2:
        raise ValueError("Write PLAN and a paragraph, then, on a new line, ANSWER and the answer.")
    return Plan(paragraph=_saying(parts["PLAN"])), _saying(parts["ANSWER"])


def hint_of(text: str) -> tuple[Plan, tuple[str, ...]]:
    """Plan and queries from a reply: one query per line, or several between semicolons, or a list in JSON.

    Overlong ones are dropped, and all after `MAX_QUERIES`.

    Raises:
        ValueError: One of the two is missing.
    """
    parts = parts_of(text, "PLAN", "RETRIEVAL HINT")
    lines = _query_lines(parts.get("RETRIEVAL HINT", ""))
    bare = (match[1].strip("\"'“”*`") for line in lines if (match := _BULLET.fullmatch(line)))
    queries = tuple(dict.fromkeys(query for query in bare if 0 < len(query) <= _LONGEST_QUERY))
    if "PLAN" not in parts or not queries:
        raise ValueError("Write PLAN and a paragraph, then, on a new line, RETRIEVAL HINT and one query per line.")
    return Plan(paragraph=_saying(parts["PLAN"])), queries[:MAX_QUERIES]


def _query_lines(text: str) -> list[str]:
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, list):
            return [str(query) for query in cast("list[Any]", found)]
    return text.split("\n") if "\n" in text else re.split(r"[;；]", text)
