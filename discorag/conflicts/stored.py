"""What the last audit found about an answer's sources: the other side, even if it was not retrieved."""

from collections.abc import Iterable

from discorag.conflicts.audit import RULES, sort_findings
from discorag.conflicts.detection import RELATIONS
from discorag.conflicts.verdicts import Finding, Side, Verdict
from discorag.schema.answer import Disagreement, EvidenceSpan
from discorag.schema.document import Scope
from discorag.store.findings import Findings
from discorag.store.store import Store

MOST = 5
"""Disagreements that are shown with an answer, the surest first: one sentence may occur in many versions."""


def stored_disagreements(evidence: Iterable[EvidenceSpan], store: Store, scope: Scope) -> list[Disagreement]:
    """The open findings that have a side among an answer's evidence. Blocks.

    Explained differences are left out: that another company or year has another value says nothing about the answer.
    So are those whose document was deleted or replaced since the audit.
    """
    spans = list(evidence)
    rows = Findings(store.database, RULES).open_findings(scope, {e.doc_id for e in spans}) if spans else []
    findings = sort_findings(map(Finding.model_validate_json, rows))
    relevant = (f for f in findings if f.verdict is not Verdict.DIFFERS)
    found = [f for f in relevant if any(_holds(e, side) for e in spans for side in (f.left, f.right))]
    ids = list(dict.fromkeys(side.chunk_id for f in found[:MOST] for side in (f.left, f.right)))
    read = store.stored_chunks(scope, ids)
    names = store.source_names(scope, read.values())
    chunks = {i: c.model_copy(update={"source": names[c.uri]}) for i, c in read.items()}
    return [
        Disagreement(
            relation=RELATIONS[finding.verdict],
            a=EvidenceSpan.of(chunks[finding.left.chunk_id], finding.left.span),
            b=EvidenceSpan.of(chunks[finding.right.chunk_id], finding.right.span),
            reason=finding.stated_reason,
        )
        for finding in found[:MOST]
        if {finding.left.chunk_id, finding.right.chunk_id} <= chunks.keys()
    ]


def _holds(evidence: EvidenceSpan, side: Side) -> bool:
    start, end = evidence.span.start, evidence.span.end
    return evidence.doc_id == side.doc_id and start < side.span.end and side.span.start < end
