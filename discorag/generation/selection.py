"""Content selection without a language model: which sentences an extractive answer consists of, and in which order."""

import asyncio
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from discorag.generation.calibration import Calibration
from discorag.generation.relevance import Relevance, rank_by_words, rank_sentences
from discorag.ingest.segment.sentence_table import SentenceTable, sentences_of
from discorag.models.packaged import language_warning
from discorag.models.protocol import Encoder
from discorag.models.reranker import Reranker
from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation, Edge
from discorag.schema.document import UnitKind
from discorag.schema.values import Span
from discorag.text import cues
from discorag.text.terms import terms

LIMIT = 5
"""Sentences of an answer, two conflicting pairs included; the other sides of further conflicts are added to them."""
FULL_LIMIT = 12
"""The same for ``detail="full"``."""
UNCALIBRATED = 3
"""Sentences of an answer if the reranker has no calibration."""


class Role(StrEnum):
    """What a sentence does in the answer."""

    ANSWER = "answer"
    OPPOSES = "opposes"
    SUPPORTS = "supports"
    ADDS = "adds"


@dataclass(frozen=True)
class SelectedSentence:
    """A sentence of the answer: its index in the table, its role, and the sentence it belongs to (None: to none)."""

    index: int
    role: Role
    of: int | None = None


@dataclass(frozen=True)
class Selection:
    """The sentences of an answer in their order, and the pairs of them that disagree."""

    sentences: tuple[SelectedSentence, ...]
    conflicts: tuple[tuple[int, int], ...] = ()

    @property
    def indices(self) -> tuple[int, ...]:
        """Indices into the table, in the order of the answer."""
        return tuple(s.index for s in self.sentences)


@dataclass(frozen=True)
class Selector:
    """Ranks and selects the sentences of a question's inputs: the encoder finds candidates, the reranker orders them.

    The calibration is the reranker's; None if there is none for it.
    """

    encoder: Encoder
    reranker: Reranker
    calibration: Calibration | None

    async def rank(self, inputs: AnswerInputs) -> tuple[SentenceTable, Relevance]:
        """The sentences of the inputs and how well they answer; by their words if the reranker cannot read them.

        Raises `ModelError` if an endpoint fails.
        """
        table = await sentences_of(inputs, self.encoder)
        if not await self._can_read(inputs):
            return table, await asyncio.to_thread(rank_by_words, inputs, table)
        return table, await rank_sentences(inputs, table, await self.encoder.encode_query(inputs.query), self.reranker)

    async def select(self, inputs: AnswerInputs) -> tuple[SentenceTable, Selection]:
        """The sentences of the inputs and those that the answer consists of. Raises `ModelError` as `rank` does."""
        table, relevance = await self.rank(inputs)
        calibration = None if relevance.by_words else self.calibration
        return table, select_sentences(inputs, table, relevance, calibration)

    async def _can_read(self, inputs: AnswerInputs) -> bool:
        """Whether the reranker knows the language of the passages, as far as is known."""
        text = "\n".join(chunk.text for chunk in inputs.chunks)
        return not await asyncio.to_thread(language_warning, text, [self.reranker.version])


def select_sentences(
    inputs: AnswerInputs, table: SentenceTable, relevance: Relevance, calibration: Calibration | None
) -> Selection:
    """Select what answers, then what opposes it, what supports it, and what adds to it.

    A conflict counts if one of its sides is relevant; its other side is then selected too. Without a calibration, the
    answer has `UNCALIBRATED` sentences.
    """
    limit = FULL_LIMIT if inputs.detail == "full" else LIMIT
    conflicts = _conflicts(inputs, table, set(_relevant(relevance, calibration)))
    chosen = list(dict.fromkeys(i for pair in conflicts[: limit // 2] for i in pair))
    for i in _answering(inputs, table, relevance, calibration):
        if len(chosen) < limit and i not in chosen and not _repeats(i, chosen, table):
            chosen.append(i)
    chosen.sort(key=lambda i: (_is_disputed_hearsay(i, table, conflicts), -float(relevance.logits[i]), i))
    sentences = _with_companions(inputs, table, chosen, conflicts)
    selected = {s.index for s in sentences}
    return Selection(sentences, tuple(p for p in conflicts if selected.issuperset(p)))


def _relevant(relevance: Relevance, calibration: Calibration | None) -> list[int]:
    """The sentences that may answer, best first: the best one in any case."""
    ranked = relevance.ranked
    if calibration is None:
        return ranked[:UNCALIBRATED]
    return ranked[:1] + [i for i in ranked[1:] if relevance.logits[i] >= calibration.relevant]


def _answering(
    inputs: AnswerInputs, table: SentenceTable, relevance: Relevance, calibration: Calibration | None
) -> list[int]:
    """The best sentence, of each source if there are two, then the relevant ones that are close enough to the best.

    With more than two sources, sentences of other sources than the best one's must be twice as close. Apart from the
    best, no sentence refers back to something that its passage does not show. Without a calibration, all relevant ones.
    """
    relevant = _relevant(relevance, calibration)
    if calibration is None:
        return relevant
    source = [inputs.chunks[unit.chunk - 1].doc_id for unit in table.sentences]
    is_pair = len({chunk.doc_id for chunk in inputs.chunks}) == 2
    first = {source[i]: i for i in reversed(relevance.ranked)}
    best = sorted(first.values(), key=relevance.ranked.index) if is_pair else relevant[:1]
    lowest = -math.inf if inputs.detail == "full" else calibration.lowest(relevance.best)
    of_others = lowest if is_pair else (lowest + relevance.best) / 2
    close = (i for i in relevant if relevance.logits[i] >= (lowest if source[i] == source[relevant[0]] else of_others))
    return [*best, *(i for i in close if not table.refers_back(table.passage(i)[0]))]


def _repeats(i: int, chosen: Iterable[int], table: SentenceTable) -> bool:
    """Whether a chosen sentence is quoted with the same words. Negations and figures are words too."""
    quoted = (table.sentences[j] for j in (i, *chosen))
    words, *others = (set(terms(unit.shown_prefix + unit.body)) for unit in quoted)
    return words in others


def _with_companions(
    inputs: AnswerInputs, table: SentenceTable, chosen: list[int], conflicts: list[tuple[int, int]]
) -> tuple[SelectedSentence, ...]:
    """The chosen sentences, best first, each followed by those that belong to it."""
    selected: dict[int, SelectedSentence] = {}
    # a lead-in comes first, then the chosen items of its list or code in text order; so do sentences below a question
    whole_of = {i: _belongs_to(i, inputs, table) for i in chosen}
    in_text_order = sorted(chosen, key=lambda i: (table.sentences[i].span.start, i))
    for i in (j for i in chosen for j in in_text_order if whole_of[j] == whole_of[i]):
        if i in selected:
            continue
        selected[i] = SelectedSentence(i, Role.ADDS if selected else Role.ANSWER)
        others = [SelectedSentence(b if a == i else a, Role.OPPOSES, i) for a, b in conflicts if i in (a, b)]
        others += [SelectedSentence(j, Role.SUPPORTS, i) for j in _supporting(inputs, table, i, chosen)]
        for other in others:
            selected.setdefault(other.index, other)
    return tuple(selected.values())


def _belongs_to(i: int, inputs: AnswerInputs, table: SentenceTable) -> int | tuple[str, str]:
    """What the sentences that are quoted in text order have in common: a lead-in, or a question of their document."""
    unit = table.sentences[i]
    if unit.question:
        return inputs.chunks[unit.chunk - 1].doc_id, unit.question
    return unit.lead if unit.lead is not None and unit.kind in {UnitKind.ITEM, UnitKind.CODE} else i


def _is_disputed_hearsay(i: int, table: SentenceTable, conflicts: list[tuple[int, int]]) -> bool:
    """Whether a sentence reports what somebody says while another source disagrees: not a point to start with."""
    return any(i in pair for pair in conflicts) and bool(cues.ATTRIBUTION.search(table.sentences[i].text))


def _supporting(inputs: AnswerInputs, table: SentenceTable, i: int, chosen: list[int]) -> Iterator[int]:
    """Those of the chosen sentences whose chunk supports the chunk of sentence ``i`` according to the graph."""
    if inputs.graph is None:
        return
    chunk = table.sentences[i].chunk
    edges: list[Edge] = [e for e in inputs.graph.edges if e.relation is ChunkRelation.SUPPORTS]
    sources = {inputs.number(e.source) for e in edges if inputs.number(e.target) == chunk}
    yield from (j for j in chosen if table.sentences[j].chunk in sources)


def _conflicts(inputs: AnswerInputs, table: SentenceTable, relevant: set[int]) -> list[tuple[int, int]]:
    """Pairs of sentences that disagree according to the graph, one of them at least relevant; outdated ones second."""
    pairs: list[tuple[int, int]] = []
    for edge in inputs.graph.edges if inputs.graph else ():
        if edge.disagrees or edge.outdates:
            a, b = locate_conflict(edge, table, inputs.number(edge.target), inputs.number(edge.source))
            if (a in relevant or b in relevant) and (b, a) not in pairs:
                pairs.append((b, a) if edge.outdates else (a, b))
    return pairs


def locate_conflict(edge: Edge, table: SentenceTable, target: int, source: int) -> tuple[int, int]:
    """Indices of the two sentences that disagree, the target chunk's first; chunks are given by number.

    The edge names them. A language model's edge does not: then they are the two most similar statements.
    """
    named = (_sentence_at(table, target, edge.target_span), _sentence_at(table, source, edge.source_span))
    if named[0] is not None and named[1] is not None:
        return named[0], named[1]
    pairs = [(a, b) for a in table.of_chunk(target) for b in table.of_chunk(source)]
    stated = [pair for pair in pairs if all(table.sentences[i].statement for i in pair)]
    return max(stated or pairs, key=lambda pair: float(table.vectors[pair[0]] @ table.vectors[pair[1]]))


def _sentence_at(table: SentenceTable, chunk: int, span: Span | None) -> int | None:
    """The sentence in which a span starts."""
    if span is None:
        return None
    inside = (
        i for i in table.of_chunk(chunk) if table.sentences[i].span.start <= span.start < table.sentences[i].span.end
    )
    return next(inside, None)
