"""Where the sources of an answer disagree, or speak of different things of one name."""

from collections.abc import Collection, Iterator
from typing import Literal

from discorag.generation.selection import locate_conflict
from discorag.ingest.segment.sentence_table import SentenceTable
from discorag.schema.answer import AnswerInputs, Disagreement, EvidenceSpan, Namesake
from discorag.schema.discourse import ChunkRelation
from discorag.schema.statements import (
    Quotation,
    Statement,
    StatementGraph,
    StatementRelation,
    StatementRelationKind,
    StatementRole,
)
from discorag.verification.statements import quoted_spans, shared_words

_DISAGREEMENTS = {
    StatementRelationKind.CONTRADICTS: ChunkRelation.CONTRADICTS,
    StatementRelationKind.REPLACES: ChunkRelation.REPLACES,
}
"""LIMITS is none of these: a condition, group or time for which a statement holds does not speak against it."""


def disagreements_of_statements(
    inputs: AnswerInputs, graph: StatementGraph, told: Collection[int]
) -> tuple[Disagreement, ...]:
    """The disagreements between statements of different documents, one of which at least the answer tells.

    A document that makes both statements does not take a side. Contradictions come first.
    """
    found: dict[frozenset[int], Disagreement] = {}
    for kind, relation in _DISAGREEMENTS.items():
        for r in _between(graph, kind, told):
            a, b = _apart(inputs, graph.by_number[r.target], graph.by_number[r.source])
            sides = _closest(inputs, a, r, graph), _closest(inputs, b, r, graph)
            if sides[0] and sides[1]:
                disagreement = Disagreement(
                    relation=relation,
                    a=sides[0],
                    b=sides[1],
                    reason=r.about,
                    favoured=_favoured(r, graph),
                    statements=(r.target, r.source),
                )
                found.setdefault(frozenset((r.source, r.target)), disagreement)
    return tuple(found.values())


def namesakes_of_statements(inputs: AnswerInputs, graph: StatementGraph, told: Collection[int]) -> tuple[Namesake, ...]:
    """The pairs of statements about different things of one name, one of which at least the answer tells."""
    found: dict[frozenset[int], Namesake] = {}
    for r in _between(graph, StatementRelationKind.ANOTHER, told):
        target, source = graph.by_number[r.target], graph.by_number[r.source]
        sides = _closest(inputs, target.quotations, r, graph), _closest(inputs, source.quotations, r, graph)
        if sides[0] and sides[1]:
            pair = Namesake(a=sides[0], b=sides[1], reason=r.about, statements=(r.target, r.source))
            found.setdefault(frozenset((r.source, r.target)), pair)
    return tuple(found.values())


def _between(graph: StatementGraph, kind: StatementRelationKind, told: Collection[int]) -> Iterator[StatementRelation]:
    """The relations of a kind that have one end at least among the told statements."""
    return (r for r in graph.relations if r.relation is kind and (r.source in told or r.target in told))


def _apart(
    inputs: AnswerInputs, one: Statement, other: Statement
) -> tuple[tuple[Quotation, ...], tuple[Quotation, ...]]:
    """The quotations of each statement in documents that do not make the other one."""
    documents = {chunk.id: chunk.doc_id for chunk in inputs.chunks}
    made = [{documents.get(q.chunk_id) for q in s.quotations} for s in (one, other)]
    both = made[0] & made[1]
    first, second = (tuple(q for q in s.quotations if documents.get(q.chunk_id) not in both) for s in (one, other))
    return first, second


def _closest(
    inputs: AnswerInputs, quotations: Collection[Quotation], relation: StatementRelation, graph: StatementGraph
) -> EvidenceSpan | None:
    """The place of the quotation that has most words of what the relation is about; None if there is no quotation."""
    said = [graph.by_number[n].says for n in (relation.source, relation.target)]
    about = shared_words(relation.about) or shared_words(said[0]) ^ shared_words(said[1])
    return max(quoted_spans(inputs, tuple(quotations)), key=lambda e: len(about & shared_words(e.text)), default=None)


def _favoured(relation: StatementRelation, graph: StatementGraph) -> Literal["a", "b"] | None:
    """The side that the roles favour; without such a role, the newer one of two versions."""
    opposes = [graph.by_number[n].role is StatementRole.OPPOSES for n in (relation.target, relation.source)]
    if opposes[0] != opposes[1]:
        return "b" if opposes[0] else "a"
    return "b" if relation.relation is StatementRelationKind.REPLACES else None


_ORDER = (ChunkRelation.CONTRADICTS, ChunkRelation.CONTRASTS_WITH, ChunkRelation.REPLACES)


def disagreements_of_chunks(inputs: AnswerInputs, table: SentenceTable, used: set[str]) -> tuple[Disagreement, ...]:
    """Disagreements between chunks of different documents, if the answer uses both chunks (``used`` has their ids).

    For two versions of a document it is enough that the answer uses one of them.
    """
    found: dict[frozenset[str], Disagreement] = {}
    for edge in inputs.graph.edges if inputs.graph else ():
        i, j = inputs.number(edge.target), inputs.number(edge.source)
        sides = len({edge.source, edge.target} & used)
        is_reported = (edge.disagrees and sides == 2) or (edge.outdates and sides > 0)
        if is_reported and inputs.chunks[i - 1].doc_id != inputs.chunks[j - 1].doc_id:
            a, b = locate_conflict(edge, table, i, j)
            disagreement = Disagreement(
                relation=edge.relation,
                a=EvidenceSpan.of(inputs.chunks[i - 1], edge.target_span or table.sentences[a].span),
                b=EvidenceSpan.of(inputs.chunks[j - 1], edge.source_span or table.sentences[b].span),
                reason=edge.reason,
            )
            found.setdefault(frozenset({edge.source, edge.target}), disagreement)
    return tuple(sorted(found.values(), key=lambda d: _ORDER.index(d.relation)))
