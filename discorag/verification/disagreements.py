"""Finds where the sources of an answer disagree, or are about different things of one name."""

from collections.abc import Collection, Iterator, Sequence
from itertools import product
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
"""LIMITS is not among them: a condition, group or time for which a statement holds does not contradict it."""


def disagreements_of_statements(
    inputs: AnswerInputs, graph: StatementGraph, told: Collection[int]
) -> tuple[Disagreement, ...]:
    """The disagreements between statements of different documents, at least one of which the answer tells.

    A document that makes both statements does not take a side. Contradictions come first.
    """
    found: dict[frozenset[int], Disagreement] = {}
    for kind, relation in _DISAGREEMENTS.items():
        for r in _between(graph, kind, told):
            target, source = _apart(inputs, graph.by_number[r.target], graph.by_number[r.source])
            if pair := _clearest_pair(inputs, target, source, r.about):
                disagreement = Disagreement(
                    relation=relation,
                    a=pair[0],
                    b=pair[1],
                    reason=r.about,
                    favoured=_favoured(r, graph),
                    statements=(r.target, r.source),
                )
                found.setdefault(frozenset((r.source, r.target)), disagreement)
    return tuple(found.values())


def namesakes_of_statements(inputs: AnswerInputs, graph: StatementGraph, told: Collection[int]) -> tuple[Namesake, ...]:
    """The pairs of statements about different things of one name, at least one of which the answer tells."""
    found: dict[frozenset[int], Namesake] = {}
    for r in _between(graph, StatementRelationKind.ANOTHER, told):
        target, source = graph.by_number[r.target].quotations, graph.by_number[r.source].quotations
        if pair := _clearest_pair(inputs, target, source, r.about):
            namesake = Namesake(a=pair[0], b=pair[1], reason=r.about, statements=(r.target, r.source))
            found.setdefault(frozenset((r.source, r.target)), namesake)
    return tuple(found.values())


def _between(graph: StatementGraph, kind: StatementRelationKind, told: Collection[int]) -> Iterator[StatementRelation]:
    """The relations of a kind that have at least one end among the statements that the answer tells."""
    return (r for r in graph.relations if r.relation is kind and (r.source in told or r.target in told))


def _apart(inputs: AnswerInputs, one: Statement, other: Statement) -> tuple[list[Quotation], list[Quotation]]:
    """The quotations of each statement in documents that do not make the other one."""
    documents = {chunk.id: chunk.doc_id for chunk in inputs.chunks}
    made = [{documents.get(q.chunk_id) for q in s.quotations} for s in (one, other)]
    both = made[0] & made[1]
    first, second = ([q for q in s.quotations if documents.get(q.chunk_id) not in both] for s in (one, other))
    return first, second


def _clearest_pair(
    inputs: AnswerInputs, one: Sequence[Quotation], other: Sequence[Quotation], about: str
) -> tuple[EvidenceSpan, EvidenceSpan] | None:
    """The pair of quotations, one of each statement, that shows the relation best; None if a statement has none.

    The two are on the same subject, so they share words, and they have the words that say what the relation is about.
    Shared words count twice, since the others may only name the subject.
    """
    subject = shared_words(about)

    def clearness(pair: tuple[EvidenceSpan, EvidenceSpan]) -> float:
        a, b = shared_words(pair[0].text), shared_words(pair[1].text)
        return 2 * len(a & b) / (len(a | b) or 1) + len(subject & (a | b)) / (len(subject) or 1)

    return max(product(quoted_spans(inputs, one), quoted_spans(inputs, other)), key=clearness, default=None)


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
