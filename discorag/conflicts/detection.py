"""Which sentences of a question's chunks disagree: the same comparison as an audit's, over what was retrieved."""

import re
from collections.abc import Iterator, Sequence

from discorag.conflicts.alignment import stem
from discorag.conflicts.audit import audit
from discorag.conflicts.statements import AuditDocument
from discorag.conflicts.verdicts import CONDITION, NEGATED, Finding, Verdict
from discorag.ingest.segment.sentence_table import SentenceTable
from discorag.schema.discourse import ChunkRelation, Edge
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.terms import terms

RELATIONS = {
    Verdict.CONTRADICTS: ChunkRelation.CONTRADICTS,
    Verdict.REPLACED: ChunkRelation.REPLACES,
    Verdict.DIFFERS: ChunkRelation.CONTRASTS_WITH,
}
_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have)\b", re.IGNORECASE
)
_LEAST_ASKED, _COVERS = 2, 0.6
_NEAR = 0.75
"""Least cosine of a sentence that affirms a question and one that denies it."""
_Place = tuple[str, Span]
"""A chunk's id, and characters in its document."""


def find_conflicts(query: str, chunks: Sequence[Chunk], table: SentenceTable) -> dict[frozenset[str], Edge]:
    """For each pair of chunks of different documents that disagree, the conflict nearest to the question's words.

    Args:
        query: The question.
        chunks: Its chunks, best first.
        table: Their sentences.

    Returns:
        Edges by the ids of their two chunks: from the newer statement to the one that it replaces, otherwise from the
        chunk of lower rank to the one of higher rank.
    """
    ranks = {chunk.id: rank for rank, chunk in enumerate(chunks)}
    asked = _stems(query)
    found: dict[frozenset[str], Edge] = {}

    def overlap(finding: Finding) -> int:
        return len(asked & (_stems(finding.left.quote) | _stems(finding.right.quote)))

    findings = sorted(audit(_documents(chunks, table)), key=overlap, reverse=True)
    conflicts = [
        (RELATIONS[f.verdict], f.stated_reason, [(side.chunk_id, side.span) for side in (f.right, f.left)])
        for f in findings
    ]
    for relation, reason, places in [*conflicts, *_answers_yes_and_no(query, chunks, table)]:
        if relation is not ChunkRelation.REPLACES:
            places.sort(key=lambda place: ranks[place[0]], reverse=True)
        (source, here), (target, there) = places
        edge = Edge(source=source, target=target, relation=relation, source_span=here, target_span=there, reason=reason)
        found.setdefault(frozenset((source, target)), edge)
    return found


def _answers_yes_and_no(
    query: str, chunks: Sequence[Chunk], table: SentenceTable
) -> Iterator[tuple[ChunkRelation, str, list[_Place]]]:
    """Sentences of two documents of which one affirms what a yes-or-no question asks, and one denies it; closest first.

    Each pair has a relation, the reason for it and two places. If only one side is limited ("in adults"), the relation
    is CONTRASTS_WITH, and the reason names the limit.
    """
    asked = _stems(query) if _YES_OR_NO.match(query) else set[str]()
    if len(asked) < _LEAST_ASKED:
        return
    says, denies = list[int](), list[int]()
    for i, sentence in enumerate(table.sentences):
        negated = NEGATED.search(sentence.body)
        if sentence.statement and len(asked & _stems(negated[1] if negated else sentence.body)) >= _COVERS * len(asked):
            (denies if negated else says).append(i)
    cosines = {(i, j): float(table.vectors[i] @ table.vectors[j]) for i in says for j in denies}
    for (i, j), cosine in sorted(cosines.items(), key=lambda pair: -pair[1]):
        if cosine < _NEAR or _document(chunks, table, i) == _document(chunks, table, j):
            continue
        limits = [m[0].strip() if (m := CONDITION.search(table.sentences[k].body)) else "" for k in (i, j)]
        one_sided = limits[0] or limits[1] if bool(limits[0]) != bool(limits[1]) else ""
        reason = "One source affirms what is asked, the other denies it"
        reason += f'; only one of them is limited: "{one_sided}".' if one_sided else "."
        relation = ChunkRelation.CONTRASTS_WITH if one_sided else ChunkRelation.CONTRADICTS
        yield relation, reason, [(chunks[s.chunk - 1].id, s.span) for s in (table.sentences[j], table.sentences[i])]


def _document(chunks: Sequence[Chunk], table: SentenceTable, i: int) -> str:
    return chunks[table.sentences[i].chunk - 1].doc_id


def _stems(text: str) -> set[str]:
    """The first letters of the words that say something."""
    return {stem(t) for t in terms(text) if len(t) > 1}


def _documents(chunks: Sequence[Chunk], table: SentenceTable) -> list[AuditDocument]:
    """The documents of the chunks, as far as they were retrieved."""
    rows: dict[str, list[int]] = {}
    for i in range(len(table.sentences)):
        rows.setdefault(_document(chunks, table, i), []).append(i)
    return [AuditDocument.of(chunks, table, own) for own in rows.values()]
