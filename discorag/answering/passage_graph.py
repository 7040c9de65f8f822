"""The graph over passages that follows from the relations between their statements."""

from discorag.schema.answer import AnswerInputs
from discorag.schema.discourse import ChunkRelation, Edge, RhetoricalGraph
from discorag.schema.statements import Quotation, Statement, StatementGraph, StatementRelationKind

_RELATIONS = {
    StatementRelationKind.CONTRADICTS: ChunkRelation.CONTRADICTS,
    StatementRelationKind.REPLACES: ChunkRelation.REPLACES,
    StatementRelationKind.LIMITS: ChunkRelation.SPECIFIES,
    StatementRelationKind.SUPPORTS: ChunkRelation.SUPPORTS,
    StatementRelationKind.CAUSES: ChunkRelation.CAUSES,
    StatementRelationKind.EXEMPLIFIES: ChunkRelation.EXEMPLIFIES,
}
"""What a relation between statements is between their passages, conflicts first; ANOTHER is none."""


def graph_over_passages(inputs: AnswerInputs, statements: StatementGraph) -> RhetoricalGraph:
    """The passages, with an edge for each related pair of statements that different passages make.

    An edge rests on one quotation of each statement. If several relations join the same two passages, a conflict comes
    first, then what the statements say first.
    """
    edges: dict[tuple[str, str], Edge] = {}
    for kind, relation in _RELATIONS.items():
        for found in (r for r in statements.relations if r.relation is kind):
            pair = _quoted_apart(statements.by_number[found.source], statements.by_number[found.target])
            if pair is None:
                continue
            source, target = pair
            edge = Edge(
                source=source.chunk_id,
                target=target.chunk_id,
                relation=relation,
                source_span=source.spans[0],
                target_span=target.spans[0],
                reason=found.about,
            )
            edges.setdefault((source.chunk_id, target.chunk_id), edge)
    return RhetoricalGraph(chunks=tuple(chunk.id for chunk in inputs.chunks), edges=tuple(edges.values()))


def _quoted_apart(source: Statement, target: Statement) -> tuple[Quotation, Quotation] | None:
    """The first quotations of two statements that are words of different passages; None if there are none."""
    pairs = ((a, b) for a in source.quotations for b in target.quotations)
    return next((pair for pair in pairs if pair[0].chunk_id != pair[1].chunk_id), None)
