"""The audit of a corpus: which documents changed since the last one, what disagrees, and what a reader has settled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import date, datetime

from pydantic import BaseModel, ConfigDict

from discorag.conflicts.audit import audit, audit_document, sort_findings
from discorag.conflicts.identity import DocumentIdentity, identify_document
from discorag.conflicts.statements import AuditDocument
from discorag.conflicts.verdicts import Finding, Tier, Verdict
from discorag.ingest.segment.sentence_table import sentence_table
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder
from discorag.schema.document import Scope
from discorag.store.findings import Findings
from discorag.store.records import Manifest
from discorag.store.store import Store

Progress = Callable[[int, int], None]
"""Called with the documents read so far, and how many there are."""
_MEMORY = 100_000  # sentences of one document


class AuditedDocument(BaseModel):
    """A document of an audit, and who and when it speaks for."""

    model_config = ConfigDict(frozen=True)

    doc_id: str
    title: str
    uri: str
    identity: DocumentIdentity
    written: datetime | None


class AuditReport(BaseModel):
    """What an audit found.

    Args:
        corpus: The audited corpus.
        documents: All its documents.
        findings: Best first; also those that are settled.
        settled: Ids of the findings that a reader has settled, with the notes.
        changed: How many documents were added, changed or deleted since the audit, and so are not compared yet.
    """

    model_config = ConfigDict(frozen=True)

    corpus: str
    documents: tuple[AuditedDocument, ...]
    findings: tuple[Finding, ...]
    settled: dict[str, str] = {}
    changed: int = 0

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that nobody has settled."""
        return tuple(f for f in self.findings if f.id not in self.settled)

    @property
    def contradictions(self) -> tuple[Finding, ...]:
        """Open, sure contradictions: what sets the exit code."""
        return tuple(f for f in self.open if f.tier is Tier.SURE and f.verdict is Verdict.CONTRADICTS)

    def since(self, day: date) -> AuditReport:
        """Only findings that touch a document stored on or after a date."""
        recent = {d.doc_id for d in self.documents if d.written and d.written.date() >= day}
        kept = tuple(f for f in self.findings if {f.left.doc_id, f.right.doc_id} & recent)
        return self.model_copy(update={"findings": kept})


async def audit_corpus(store: Store, encoder: Encoder, scope: Scope, progress: Progress | None = None) -> AuditReport:
    """Audit a corpus: only what changed since its last audit is compared again."""
    rows, manifests = Findings(store.database), await asyncio.to_thread(store.manifests, scope)
    known = await asyncio.to_thread(rows.audited, scope)
    current = {m.doc_id: m.fingerprint for m in manifests}
    changed = {doc_id for doc_id, fingerprint in current.items() if known.get(doc_id) != fingerprint}
    stale = changed | (known.keys() - current.keys())
    if stale:
        documents = await read_documents(store, encoder, scope, manifests, progress)
        found = await asyncio.to_thread(audit, documents, only=changed)
        new = [(f.id, f.left.doc_id, f.right.doc_id, f.model_dump_json()) for f in found]
        await asyncio.to_thread(rows.replace, scope, stale, new, current)
    return await asyncio.to_thread(stored_audit, store, scope)


def stored_audit(store: Store, scope: Scope) -> AuditReport:
    """What the last audit of a corpus found between documents that are still the same."""
    rows, current = Findings(store.database), {m.doc_id: m.fingerprint for m in store.manifests(scope)}
    return AuditReport(
        corpus=scope.corpus,
        documents=describe_documents(store, scope),
        findings=tuple(sort_findings(Finding.model_validate_json(body) for body in rows.current(scope))),
        settled=rows.settled(scope),
        changed=len({doc_id for doc_id, _ in rows.audited(scope).items() ^ current.items()}),
    )


async def compare_corpora(
    store: Store, encoder: Encoder, scope: Scope, against: Scope, progress: Progress | None = None
) -> AuditReport:
    """Where the documents of one corpus disagree with those of another; nothing is stored."""
    own = await read_documents(store, encoder, scope, store.manifests(scope), progress)
    other = await read_documents(store, encoder, against, store.manifests(against), progress)
    only, others = ({d.id for d in documents} for documents in (own, other))
    found = await asyncio.to_thread(audit, [*own, *other], only=only, against=others)
    described = (*describe_documents(store, scope), *describe_documents(store, against))
    return AuditReport(corpus=f"{scope.corpus} against {against.corpus}", documents=described, findings=tuple(found))


async def read_documents(
    store: Store, encoder: Encoder, scope: Scope, manifests: Sequence[Manifest], progress: Progress | None = None
) -> list[AuditDocument]:
    """The documents of a scope with their sentences and the vectors that the ingest stored."""
    found: list[AuditDocument] = []
    for number, manifest in enumerate(manifests, start=1):
        chunks = await asyncio.to_thread(store.chunks_of, scope, manifest.doc_id)
        if chunks:
            memo = MemoEncoder(encoder, size=_MEMORY)
            for chunk in chunks:
                memo.remember(chunk.unit_vectors)
            table = await sentence_table(tuple(chunks), memo)
            found.append(audit_document(manifest.uri, manifest.title, chunks, table.vectors))
        if progress:
            progress(number, len(manifests))
    return found


def describe_documents(store: Store, scope: Scope) -> tuple[AuditedDocument, ...]:
    """The documents of a scope, each with who and when it speaks for."""
    found: list[AuditedDocument] = []
    for manifest in store.manifests(scope):
        document = store.document(scope, manifest.doc_id)
        identity = identify_document(manifest.uri, manifest.title, document.text, document.metadata)
        found.append(
            AuditedDocument(
                doc_id=manifest.doc_id, title=manifest.title, uri=manifest.uri, identity=identity,
                written=manifest.written,
            )
        )  # fmt: skip
    return tuple(found)
