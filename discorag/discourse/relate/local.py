"""The local graph engine: conflicts between documents, and relations that a text states explicitly.

Precision first: every edge is based on a sentence of each chunk. Similarity alone is not a relation, so the graph may
be empty.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from discorag.conflicts.detection import find_conflicts
from discorag.discourse.relate.stated import opening_relation, stated_relation
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable, sentences_of
from discorag.models.protocol import Encoder
from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.document import Chunk


class GraphEngine(Protocol):
    """Infers the relations between chunks."""

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """The graph over ``inputs.chunks``. Raises `ModelError` when a language model fails."""
        ...


RELATION_ENGINES = Registry[Callable[[Toolbox], GraphEngine]]("relation engine", "disco_rag.relation_engines")
"""Engines by name, for ``relater=``; ``llm`` is a turn of the conversation instead (`discorag.generation.prompted`)."""

register_relation_engine = RELATION_ENGINES.register

RELATION_ENGINES.offer(
    "local", "discorag.discourse.relate.local:local_engine", "conflicts, and what the texts state of each other"
)


def local_engine(tools: Toolbox) -> GraphEngine:
    """The engine ``local``."""
    return LocalGraphEngine(tools.encoder)


@dataclass(frozen=True)
class LocalGraphEngine:
    """Infers the graph from the chunks' sentences. ``encoder`` gives their vectors where the ingest did not."""

    encoder: Encoder

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """At most one edge for every unordered pair of chunks: a conflict, else what one states of the other."""
        table = await sentences_of(inputs, self.encoder)
        return Outcome(value=await asyncio.to_thread(_graph, inputs, table))


def _graph(inputs: AnswerInputs, table: SentenceTable) -> RhetoricalGraph:
    conflicts = find_conflicts(inputs.query, inputs.chunks, table)
    own = [[table.sentences[k] for k in table.of_chunk(n + 1)] for n in range(len(inputs.chunks))]
    edges: list[Edge] = []
    for i, j in combinations(range(len(inputs.chunks)), 2):
        a, b = inputs.chunks[i], inputs.chunks[j]
        conflict = conflicts.get(frozenset((a.id, b.id)))
        edges += [conflict] if conflict else _stated_edge(a, b, own[i], own[j])
    return RhetoricalGraph(chunks=tuple(c.id for c in inputs.chunks), edges=tuple(edges))


def _stated_edge(a: Chunk, b: Chunk, one: Sequence[Sentence], other: Sequence[Sentence]) -> Iterator[Edge]:
    if a.doc_id != b.doc_id:
        found = [(stated_relation(one, other), a, b), (stated_relation(other, one), b, a)]
        known = [(stated, source, target) for stated, source, target in found if stated]
        if known:
            stated, source, target = max(known, key=lambda k: k[0].share)
            yield _edge(source, target, stated.relation, stated.source, stated.target)
    elif abs(a.order - b.order) == 1 and one and other:
        first, then, last, opening = (a, b, one[-1], other[0]) if a.order < b.order else (b, a, other[-1], one[0])
        if relation := opening_relation(opening.text):
            yield _edge(then, first, relation, opening, last)


def _edge(source: Chunk, target: Chunk, relation: ChunkRelation, says: Sentence, said_of: Sentence) -> Edge:
    return Edge(source=source.id, target=target.id, relation=relation, source_span=says.span, target_span=said_of.span)
