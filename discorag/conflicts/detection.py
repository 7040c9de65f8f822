"""Which sentences of a question's chunks disagree: the same comparison as an audit's, over what was retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discorag.conflicts.audit import audit
from discorag.conflicts.identity import identify_document
from discorag.conflicts.statements import AuditDocument
from discorag.conflicts.verdicts import Tier, Verdict
from discorag.ingest.segment.sentence_table import SentenceTable
from discorag.schema.discourse import ChunkRelation
from discorag.schema.document import Chunk

RELATIONS = {
    Verdict.CONTRADICTS: ChunkRelation.CONTRADICTS,
    Verdict.REPLACED: ChunkRelation.REPLACES,
    Verdict.DIFFERS: ChunkRelation.CONTRASTS_WITH,
}
CONFIDENCE = {Tier.SURE: 0.85, Tier.POSSIBLE: 0.6}
"""Share of the findings of a tier that are right, see docs/audit.md."""


@dataclass(frozen=True)
class Conflict:
    """Two sentences of two chunks that disagree.

    Args:
        relation: CONTRADICTS, REPLACES (``right`` replaces ``left``) or CONTRASTS_WITH.
        left: Index of the one sentence in the table.
        right: Of the other.
        confidence: Of the finding's tier.
        reason: Why, in one plain sentence.
    """

    relation: ChunkRelation
    left: int
    right: int
    confidence: float
    reason: str


def find_conflicts(chunks: Sequence[Chunk], table: SentenceTable) -> dict[frozenset[int], Conflict]:
    """For each pair of chunks of different documents that disagree, the surest conflict.

    Args:
        chunks: Of a question, in order.
        table: Their sentences.

    Returns:
        By the zero-based numbers of the two chunks.
    """
    places = {(chunks[s.chunk - 1].doc_id, s.span): i for i, s in enumerate(table.sentences)}
    found: dict[frozenset[int], Conflict] = {}
    for finding in audit(_documents(chunks, table)):
        left, right = (places[side.doc_id, side.span] for side in (finding.left, finding.right))
        pair = frozenset(table.sentences[i].chunk - 1 for i in (left, right))
        relation, confidence = RELATIONS[finding.verdict], CONFIDENCE[finding.tier]
        found.setdefault(pair, Conflict(relation, left, right, confidence, finding.reason))
    return found


def _documents(chunks: Sequence[Chunk], table: SentenceTable) -> list[AuditDocument]:
    """The documents of the chunks, as far as they were retrieved."""
    found: list[AuditDocument] = []
    for doc_id in dict.fromkeys(c.doc_id for c in chunks):
        rows = [i for i, s in enumerate(table.sentences) if chunks[s.chunk - 1].doc_id == doc_id]
        own = [chunks[table.sentences[i].chunk - 1] for i in rows]
        first = next(c for c in chunks if c.doc_id == doc_id)
        head = next((c.text for c in chunks if c.doc_id == doc_id and c.order == 0), "")
        found.append(
            AuditDocument(
                id=doc_id,
                title=first.title,
                identity=identify_document(first.title, first.title, head, first.metadata),
                sentences=[table.sentences[i] for i in rows],
                chunk_ids=[c.id for c in own],
                pages=[c.page_at(table.sentences[i].span.start) for c, i in zip(own, rows, strict=True)],
                vectors=table.vectors[np.array(rows)],
            )
        )
    return found
