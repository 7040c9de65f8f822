"""Graph engines by name, and the rules' engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from discorag.conflicts.claims import cues
from discorag.conflicts.claims.effects import stems
from discorag.conflicts.detection import Odds, disagreements, effects_opposed
from discorag.discourse.relate.stated import opening_relation
from discorag.ingest.segment.sentence_table import SentenceTable, sentences_of
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
    "local", "discorag.discourse.relate.learned:learned_engine", "learned from GUM, and what texts state"
)
RELATION_ENGINES.offer("rules", "discorag.discourse.relate.rules:rule_engine", "stated cues and similarity only")


SAME = 0.75  # cosine of two chunks' closest sentences from which they say the same
NEAR = 0.62  # ... from which they speak of the same thing


def rule_engine(tools: Toolbox) -> RuleGraphEngine:
    """For the registry."""
    return RuleGraphEngine(tools.encoder)


@dataclass(frozen=True)
class RuleGraphEngine:
    """Infers the graph from the chunks' sentences. ``encoder`` gives their similarity.

    Example:
        >>> from discorag.discourse.relate.rules import RuleGraphEngine
        >>> graph = asyncio.run(RuleGraphEngine(encoder).relate(inputs)).value
        >>> [(graph.number(edge.source), str(edge.relation), graph.number(edge.target)) for edge in graph.edges]
        [(2, 'CONTRADICTS', 1)]
    """

    encoder: Encoder

    async def relate(self, inputs: AnswerInputs) -> Outcome[RhetoricalGraph]:
        """One edge at most for every unordered pair, directed by its relation; disagreements come first."""
        table = await sentences_of(inputs, self.encoder)
        found = disagreements(table, [c.doc_id for c in inputs.chunks], by=effects_opposed)
        pairs = combinations(range(len(inputs.chunks)), 2)
        edges = (
            _at_odds(inputs, table, found[i, j]) if (i, j) in found else _edge(inputs, table, i, j) for i, j in pairs
        )
        chunks = tuple(c.id for c in inputs.chunks)
        return Outcome(value=RhetoricalGraph(chunks=chunks, edges=tuple(e for e in edges if e is not None)))


def _edge(inputs: AnswerInputs, table: SentenceTable, i: int, j: int) -> Edge | None:
    a, b = inputs.chunks[i], inputs.chunks[j]
    if a.doc_id == b.doc_id:
        return _within(a, b)
    rows, columns = table.of_chunk(i + 1), table.of_chunk(j + 1)
    return _across(a, b, float((table.vectors[rows] @ table.vectors[columns].T).max()))


def _at_odds(inputs: AnswerInputs, table: SentenceTable, found: Odds) -> Edge:
    """From the lower to the higher ranked chunk."""
    left, right = table.sentences[found.left], table.sentences[found.right]
    return Edge(
        source=inputs.chunks[right.chunk - 1].id,
        target=inputs.chunks[left.chunk - 1].id,
        relation=found.relation,
        source_span=right.span,
        target_span=left.span,
    )


def _across(a: Chunk, b: Chunk, similarity: float) -> Edge | None:
    """Relation of two chunks of different documents that are not at odds; ``a`` ranks higher."""
    if similarity < NEAR:
        return None
    for source, target in ((a, b), (b, a)):
        if _defines(source, target):
            return Edge(source=source.id, target=target.id, relation=ChunkRelation.BACKGROUND_FOR)
    relation = ChunkRelation.SUPPORTS if similarity >= SAME else ChunkRelation.SUPPLEMENTS
    return Edge(source=b.id, target=a.id, relation=relation)


def _defines(source: Chunk, target: Chunk) -> bool:
    """Whether the source chunk opens with a definition of something that the target's text speaks of."""
    first = next((s for s in map(source.slice, source.sentences) if not s.startswith("#")), "")
    match = cues.DEFINITION.search(first)
    return bool(match) and bool(stems(match[0]) & stems(target.text))


def _within(a: Chunk, b: Chunk) -> Edge | None:
    """Relation of two chunks of one document: only neighbours are related, the later one to the earlier."""
    if abs(a.order - b.order) != 1:
        return None
    first, then = (a, b) if a.order < b.order else (b, a)
    relation = opening_relation(then.slice(then.sentences[0])) or ChunkRelation.ELABORATES
    return Edge(source=then.id, target=first.id, relation=relation)
