"""Where a corpus of documents disagrees, and why: from documents to findings, best first.

Nothing is encoded: the sentences' vectors are those that the ingest stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from discorag.conflicts.alignment import Comparison, align_corpus
from discorag.conflicts.identity import identify_document
from discorag.conflicts.statements import AuditDocument, read_statements
from discorag.conflicts.verdicts import Finding, Tier, Verdict, age, judge
from discorag.ingest.segment.sentence_table import sentences_in
from discorag.schema.document import Chunk
from discorag.schema.values import Vectors

_TIERS, _VERDICTS = list(Tier), list(Verdict)


def audit_document(uri: str, title: str, chunks: Sequence[Chunk], vectors: Vectors) -> AuditDocument:
    """Prepare a stored document for `audit`.

    Args:
        uri: Where it was read.
        title: Its title.
        chunks: All its chunks, in order.
        vectors: Unit vectors of the chunks' sentences, shape (sentences, d).
    """
    sentences = sentences_in(chunks)
    text = "\n".join(chunk.text for chunk in chunks[:8])
    return AuditDocument(
        id=chunks[0].doc_id,
        title=title,
        identity=identify_document(uri, title, text, chunks[0].metadata),
        sentences=sentences,
        chunk_ids=[chunks[s.chunk - 1].id for s in sentences],
        pages=[chunks[s.chunk - 1].page_at(s.span.start) for s in sentences],
        vectors=vectors,
    )


def audit(
    documents: Sequence[AuditDocument], *, only: Collection[str] | None = None, against: Collection[str] | None = None
) -> list[Finding]:
    """Find where documents disagree; sentences of one document are never compared with each other.

    Args:
        documents: All documents.
        only: Ids of those that are compared, for example the changed ones; default: all.
        against: Ids of those that they are compared with; default: all.

    Returns:
        Findings, the sure ones first, contradictions before changes and differences, the closest sentences first.
    """
    ordered = sorted(documents, key=lambda d: (age(d.identity), d.title, d.id))
    rows, columns = (np.array([ids is None or d.id in ids for d in ordered]) for ids in (only, against))
    statements, vectors = read_statements(ordered)
    pairs = align_corpus(ordered, statements, vectors, Comparison(rows, columns))
    return sort_findings([found for pair in pairs if (found := judge(pair, ordered))])


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Best first, as `audit` returns them."""
    return sorted(findings, key=lambda f: (_TIERS.index(f.tier), _VERDICTS.index(f.verdict), -f.score, f.id))
