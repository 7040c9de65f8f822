"""POST, GET and PUT /audit: where the documents of a corpus disagree, and which findings are settled."""

import asyncio
from typing import Self
from uuid import UUID

from fastapi import APIRouter, Request, Response, status
from pydantic import BaseModel, Field

from discorag.conflicts.verdicts import Finding
from interfaces.audit import AuditReport
from interfaces.http.access import Principal, log_access
from interfaces.http.ask import unless_gone
from interfaces.http.problems import COMMON, error_responses
from interfaces.http.service import BodyCorpus, Corpus, Keyed, Reader, Served, Writer

router = APIRouter(tags=["audit"], responses=COMMON, route_class=Keyed)


class Audit(BaseModel):
    """Where the documents of a corpus disagree."""

    corpus: str
    documents: int = Field(description="How many documents the corpus has.")
    findings: list[Finding] = Field(description="Best first, also those that are settled.")
    settled: dict[str, str] = Field(description="Id of a settled finding -> the reader's note.")
    changed: int = Field(description="Documents added, changed or deleted since the audit: not compared yet.")

    @classmethod
    def of(cls, report: AuditReport) -> Self:
        """What clients see of a report: no folders of the server."""
        return cls(
            documents=len(report.documents),
            **{k: getattr(report, k) for k in ("corpus", "findings", "settled", "changed")},
        )


class AuditRequest(BaseModel, extra="forbid"):
    """What to audit."""

    corpus: BodyCorpus = None


class Settlement(BaseModel, extra="forbid"):
    """What a reader says about a finding."""

    note: str | None = Field(max_length=2000, description="Why it is settled, may be empty; null opens it again.")


@router.post("/audit", responses=error_responses(404, 502, 507))
async def run_audit(request: Request, body: AuditRequest, who: Reader, served: Served) -> Audit:
    """Compare the documents of a corpus, those that changed since the last audit, and return all findings."""

    async def audit() -> AuditReport:
        async with served.question(who, counted=False):
            return await served.rag.aaudit(corpus=body.corpus, tenant=who.tenant)

    report = await unless_gone(request, audit())
    return _record_and_reply(report, who)


@router.get("/audit")
async def last_audit(who: Reader, served: Served, corpus: Corpus = None) -> Audit:
    """What the last audit of a corpus found between documents that are still the same; nothing is compared."""
    return _record_and_reply(await asyncio.to_thread(served.rag.last_audit, tenant=who.tenant, corpus=corpus), who)


@router.put("/audit/{finding_id}", status_code=status.HTTP_204_NO_CONTENT, responses=error_responses(404, 507))
async def settle(
    who: Writer, served: Served, finding_id: UUID, settlement: Settlement, corpus: Corpus = None
) -> Response:
    """Settle a finding with a note, or open it again. It stays settled in later audits."""
    own = {"tenant": who.tenant, "corpus": corpus}
    await asyncio.to_thread(served.rag.settle, str(finding_id), settlement.note, **own)
    log_access("settled", who, corpus=served.rag.scope(**own).corpus)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


def _record_and_reply(report: AuditReport, who: Principal) -> Audit:
    """The reply; the audit log has the documents that it quotes."""
    quoted = {side.doc_id for finding in report.findings for side in (finding.left, finding.right)}
    log_access("read", who, corpus=report.corpus, documents=quoted)
    return Audit.of(report)
