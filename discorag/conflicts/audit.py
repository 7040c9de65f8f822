"""Where documents disagree, and why: from documents to findings, best first."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from discorag.conflicts.alignment import Comparison, align_corpus
from discorag.conflicts.statements import AuditDocument, read_statements
from discorag.conflicts.verdicts import Finding, Tier, Verdict, age, judge
from discorag.models.loops import raise_if_cancelled

RULES = 8
"""Version of the rules by which findings are made: after a change, the next audit compares all documents again."""
_TIERS, _VERDICTS = list(Tier), list(Verdict)


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
    rows, columns = (np.array([ids is None or d.id in ids for d in ordered], dtype=np.bool_) for ids in (only, against))
    statements, vectors = read_statements(ordered)
    found: dict[str, Finding] = {}  # a document may say one sentence under two headings
    for pair in align_corpus(ordered, statements, vectors, Comparison(rows, columns)):
        raise_if_cancelled()
        if finding := judge(pair, ordered):
            found.setdefault(finding.id, finding)
    return sort_findings(found.values())


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Best first, as `audit` returns them."""
    return sorted(findings, key=lambda f: (_TIERS.index(f.tier), _VERDICTS.index(f.verdict), -f.score, f.id))
