"""POST, GET and PUT /audit: where the documents of a corpus disagree, and which findings are settled."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Annotated, Self
from uuid import UUID

from fastapi import APIRouter, Header, Request, Response, status
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, ConfigDict, Field

from discorag.conflicts.verdicts import Finding
from interfaces.audit import AuditReport
from interfaces.http.access import Principal, log_access
from interfaces.http.ask import STREAM, unless_gone
from interfaces.http.problems import COMMON, Problem, error_responses
from interfaces.http.service import Asker, BodyCorpus, Corpus, Keyed, Reader, Served, Service, Writer, streamed

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


class AuditRequest(BaseModel):
    """What to audit."""

    model_config = ConfigDict(extra="forbid")

    corpus: BodyCorpus = None


class Settlement(BaseModel):
    """What a reader says about a finding."""

    model_config = ConfigDict(extra="forbid")

    note: str | None = Field(max_length=2000, description="Why it is settled, may be empty; null opens it again.")


class DocumentsRead(BaseModel):
    """How far an audit is."""

    read: int
    total: int


_EVENTS = (
    "Server-sent events if asked for by `Accept: text/event-stream`: `progress` with the documents `read` and their "
    "`total`, and finally `audit` (as in JSON) or `error`."
)


@router.post(
    "/audit",
    response_model=Audit,
    responses=error_responses(404, 502, 507) | {200: {"description": _EVENTS, "content": STREAM}},
)
async def run_audit(
    request: Request,
    body: AuditRequest,
    who: Asker,
    served: Served,
    accept: Annotated[str, Header()] = "application/json",
) -> Audit | StreamingResponse:
    """Compare the documents of a corpus, those that changed since the last audit, and return all findings."""
    if "text/event-stream" in accept:
        served.check_load()
        return EventSourceResponse(_events(body, who, served))
    return _record_and_reply(await unless_gone(request, _compare(body, who, served)), who)


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


async def _compare(
    body: AuditRequest, who: Principal, served: Service, progress: Callable[[int, int], None] | None = None
) -> AuditReport:
    """The audit, which counts as a question and ends at its deadline."""
    async with served.question():
        return await served.rag.aaudit(corpus=body.corpus, tenant=who.tenant, progress=progress)


async def _events(body: AuditRequest, who: Principal, served: Service) -> AsyncGenerator[bytes]:
    """Progress as it comes, then the audit or an error."""

    async def compare(put: Callable[[DocumentsRead | Audit], None]) -> None:
        report = await _compare(body, who, served, lambda read, total: put(DocumentsRead(read=read, total=total)))
        put(_record_and_reply(report, who))

    names = {DocumentsRead: "progress", Audit: "audit", Problem: "error"}
    async with aclosing(streamed(compare)) as parts:
        async for part in parts:
            yield format_sse_event(event=names[type(part)], data_str=part.model_dump_json())
