"""The audit of a corpus: which documents changed since the last one, what disagrees, and what a reader has settled."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from datetime import date, datetime
from typing import Self

from pydantic import BaseModel

from discorag.conflicts.audit import RULES, audit, sort_findings
from discorag.conflicts.identity import DocumentIdentity, identify_document
from discorag.conflicts.statements import AuditDocument
from discorag.conflicts.verdicts import Finding, Side, Tier, Verdict
from discorag.ingest.segment.sentence_table import sentence_table
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder
from discorag.schema.document import Chunk, Scope, name_sources
from discorag.schema.errors import NotFoundError
from discorag.store.findings import Findings
from discorag.store.records import Manifest
from discorag.store.store import Store

Progress = Callable[[int, int], None]
"""Called with the documents read so far, and how many there are."""
_MEMORY = 100_000  # sentences of one document


class AuditedDocument(BaseModel, frozen=True, from_attributes=True):
    """A document of an audit; ``written`` is when it was stored."""

    doc_id: str
    title: str
    uri: str
    written: datetime | None


class AuditReport(BaseModel, frozen=True):
    """What an audit found.

    Args:
        corpus: The audited corpus.
        documents: All its documents.
        findings: Best first; also those that are settled.
        settled: Ids of the findings that a reader has settled, with the notes.
        changed: How many documents were added, changed or deleted since the audit, and so are not compared yet.
        names: Ids of findings -> short names that are the same on every machine, if a folder was audited.
    """

    corpus: str
    documents: tuple[AuditedDocument, ...]
    findings: tuple[Finding, ...]
    settled: dict[str, str] = {}
    changed: int = 0
    names: dict[str, str] = {}

    @property
    def open(self) -> tuple[Finding, ...]:
        """The findings that are not settled."""
        return tuple(f for f in self.findings if f.id not in self.settled)

    @property
    def contradictions(self) -> tuple[Finding, ...]:
        """Open, sure contradictions; they set the exit code."""
        return tuple(f for f in self.open if f.tier is Tier.SURE and f.verdict is Verdict.CONTRADICTS)

    def since(self, day: date) -> Self:
        """Only findings that touch a document stored on or after a date, in local time."""
        return self._about({d.doc_id for d in self.documents if d.written and d.written.astimezone().date() >= day})

    def about_files(self, files: Collection[str]) -> Self:
        """Only findings that touch one of these files; each is an absolute path with ``/``."""
        return self._about({d.doc_id for d in self.documents if d.uri in files})

    def _about(self, doc_ids: Set[str]) -> Self:
        kept = tuple(f for f in self.findings if {f.left.doc_id, f.right.doc_id} & doc_ids)
        return self.model_copy(update={"findings": kept})


async def audit_corpus(store: Store, encoder: Encoder, scope: Scope, progress: Progress | None = None) -> AuditReport:
    """Audit a corpus: only what changed since its last audit is compared again."""
    rows, manifests = Findings(store.database, RULES), await asyncio.to_thread(store.manifests, scope)
    known = await asyncio.to_thread(rows.fingerprints, scope)
    current = {m.doc_id: m.fingerprint for m in manifests}
    changed = {doc_id for doc_id, fingerprint in current.items() if known.get(doc_id) != fingerprint}
    deleted = known.keys() - current.keys()
    if changed or deleted:
        documents = await read_documents(store, encoder, [(scope, manifests)], progress)
        if known.keys() != current.keys():  # which pages of two releases are compared depends on which there are
            changed |= {d.id for d in documents if any(d.release)}
        found = await asyncio.to_thread(audit, documents, only=changed)
        new = [(f.id, f.left.doc_id, f.right.doc_id, f.model_dump_json()) for f in found]
        await asyncio.to_thread(rows.replace, scope, changed | deleted, new, current)
    elif progress:
        progress(len(manifests), len(manifests))
    return await asyncio.to_thread(stored_audit, store, scope)


def stored_audit(store: Store, scope: Scope) -> AuditReport:
    """What the last audit of a corpus found between documents that are still the same."""
    rows, manifests = Findings(store.database, RULES), store.manifests(scope)
    current, notes = {m.doc_id: m.fingerprint for m in manifests}, rows.settled_notes(scope)
    stored = (Finding.model_validate_json(body) for body in rows.current_findings(scope))
    findings = tuple(sort_findings(stored))
    return AuditReport(
        corpus=scope.corpus,
        documents=_documents_of(manifests),
        findings=_with_names(findings, manifests),
        settled={f.id: notes[f.id] for f in findings if f.id in notes},
        changed=len({doc_id for doc_id, _ in rows.fingerprints(scope).items() ^ current.items()}),
    )


async def compare_corpora(
    store: Store, encoder: Encoder, scope: Scope, against: Scope, progress: Progress | None = None
) -> AuditReport:
    """Where the documents of one corpus disagree with those of another; nothing is stored."""
    own, other = [(s, await asyncio.to_thread(store.manifests, s)) for s in (scope, against)]
    documents = await read_documents(store, encoder, [own, other], progress)
    only, others = ({m.doc_id for m in manifests} for _, manifests in (own, other))
    found = await asyncio.to_thread(audit, documents, only=only, against=others)
    return AuditReport(
        corpus=f"{scope.corpus} against {against.corpus}",
        documents=_documents_of([*own[1], *other[1]]),
        findings=_with_names(found, [*own[1], *other[1]]),
    )


def _with_names(findings: Iterable[Finding], manifests: Sequence[Manifest]) -> tuple[Finding, ...]:
    """The findings, with names for their documents that tell those of the same title apart."""
    titles = {m.uri: m.title for m in manifests}
    by_uri = name_sources(titles, titles)
    names = {m.doc_id: by_uri[m.uri] for m in manifests}

    def named(side: Side) -> Side:
        return side.model_copy(update={"title": names.get(side.doc_id, side.title)})

    return tuple(f.model_copy(update={"left": named(f.left), "right": named(f.right)}) for f in findings)


async def read_documents(
    store: Store, encoder: Encoder, parts: Iterable[tuple[Scope, Sequence[Manifest]]], progress: Progress | None = None
) -> list[AuditDocument]:
    """Documents of one or more scopes with their sentences and the vectors that the ingest stored."""
    to_read = [(scope, manifest) for scope, manifests in parts for manifest in manifests]
    found: list[AuditDocument] = []
    for number, (scope, manifest) in enumerate(to_read, start=1):
        with suppress(NotFoundError):  # deleted meanwhile: the next audit sees it
            memo = MemoEncoder(encoder, size=_MEMORY)
            chunks = await asyncio.to_thread(_chunks_with_vectors, store, scope, manifest, memo)
            table = await sentence_table(tuple(chunks), memo)
            rows = range(len(table.sentences))
            found.append(await asyncio.to_thread(AuditDocument.of, chunks, table, rows))
        if progress:
            progress(number, len(to_read))
    return found


def _chunks_with_vectors(store: Store, scope: Scope, manifest: Manifest, memo: MemoEncoder) -> list[Chunk]:
    """The chunks of a document; the memory gets their sentences' vectors, so that nothing is encoded."""
    chunks = store.chunks(scope, [chunk_id for chunk_id, _ in store.chunk_spans(scope, manifest.doc_id)])
    for chunk in chunks:
        memo.remember(chunk.unit_vectors)
    return chunks


def _documents_of(manifests: Iterable[Manifest]) -> tuple[AuditedDocument, ...]:
    return tuple(map(AuditedDocument.model_validate, manifests))


def identify_documents(store: Store, scope: Scope) -> Iterator[tuple[Manifest, DocumentIdentity]]:
    """The documents of a scope, each with whom and what time it speaks for."""
    for manifest in store.manifests(scope):
        with suppress(NotFoundError):  # deleted meanwhile
            document = store.document(scope, manifest.doc_id)
            yield manifest, identify_document(document.uri, document.title, document.text, document.metadata)
