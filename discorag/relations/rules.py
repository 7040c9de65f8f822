"""The rule-based graph engine: stated cues, claims, order and similarity; no language model, no training.

Deliberately simple: it finds what texts state openly and leaves the rest UNRELATED.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discorag.claims import cues
from discorag.claims.effects import Claim, claim_of, stems
from discorag.claims.units import UnitTable, units_of
from discorag.disagreement.effects import odds
from discorag.models.protocol import Encoder
from discorag.models.toolbox import Toolbox
from discorag.types.case import Case, Outcome
from discorag.types.chunk import Chunk
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.graph import Edge, RhetoricalGraph

SAME = 0.75  # cosine of two chunks' closest sentences from which they say the same
NEAR = 0.62  # ... from which they speak of the same thing


def rule_engine(tools: Toolbox) -> RuleGraphEngine:
    """For the registry."""
    return RuleGraphEngine(tools.encoder)


@dataclass(frozen=True)
class RuleGraphEngine:
    """Infers the graph from the chunks' sentences. ``encoder`` gives their similarity.

    Example:
        >>> from discorag.relations.rules import RuleGraphEngine
        >>> graph = asyncio.run(RuleGraphEngine(encoder).relate(case)).value
        >>> [(graph.number(edge.source), str(edge.relation), graph.number(edge.target)) for edge in graph.edges]
        [(2, 'CONTRADICTS', 1)]
    """

    encoder: Encoder

    async def relate(self, case: Case) -> Outcome[RhetoricalGraph]:
        """One edge at most for every unordered pair, directed by its relation; disagreements come first."""
        table = await units_of(case, self.encoder)
        claims = [claim_of(u.text) if u.statement else None for u in table.units]
        numbers = range(1, len(case.chunks) + 1)
        found = (_edge(case, table, claims, i, j) for i, j in combinations(numbers, 2))
        edges = tuple(e for e in found if e is not None)
        return Outcome(value=RhetoricalGraph(chunks=tuple(c.id for c in case.chunks), edges=edges))


def _edge(case: Case, table: UnitTable, claims: list[Claim | None], i: int, j: int) -> Edge | None:
    a, b = case.chunks[i - 1], case.chunks[j - 1]
    if a.doc_id == b.doc_id:
        return _within(a, b)
    rows, columns = table.of_chunk(i), table.of_chunk(j)
    similarity = table.vectors[rows] @ table.vectors[columns].T
    return _at_odds(table, claims, rows, columns, similarity, (a, b)) or _across(a, b, float(similarity.max()))


def _at_odds(
    table: UnitTable,
    claims: list[Claim | None],
    rows: list[int],
    columns: list[int],
    similarity: np.ndarray,
    chunks: tuple[Chunk, Chunk],
) -> Edge | None:
    """The most similar pair of sentences whose claims are at odds, as an edge from the lower to the higher ranked."""
    for flat in np.argsort(-similarity, axis=None, kind="stable"):
        r, c = divmod(int(flat), len(columns))
        left, right = claims[rows[r]], claims[columns[c]]
        relation = odds(left, right, similarity=float(similarity[r, c])) if left and right else None
        if relation:
            a, b = table.units[rows[r]].span, table.units[columns[c]].span
            return Edge(source=chunks[1].id, target=chunks[0].id, relation=relation, source_span=b, target_span=a)
    return None


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
    opening = then.slice(then.sentences[0])
    relation = ChunkRelation.ELABORATES
    for cue, label in (
        (cues.OPENING_EXAMPLE, ChunkRelation.EXEMPLIFIES),
        (cues.OPENING_RESULT, ChunkRelation.RESULTS_FROM),
        (cues.OPENING_TIME, ChunkRelation.FOLLOWS),
    ):
        if cue.match(opening):
            relation = label
    return Edge(source=then.id, target=first.id, relation=relation)
