"""POST /ingest and the jobs that it makes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, BinaryIO

from fastapi import APIRouter, File, Form, Path, UploadFile, status
from pydantic import BaseModel
from pydantic.json_schema import SkipJsonSchema

from discorag.ingest.survey import DocumentOutcome, Status
from discorag.schema.document import Scope
from discorag.schema.errors import DiscoRagError, InputError, StoreError, UnknownFormatError
from discorag.schema.ledger import Failure
from interfaces.facade import DiscoRAG
from interfaces.http import audit
from interfaces.http.documents import Name
from interfaces.http.jobs import Ingest, Job
from interfaces.http.keys import Principal
from interfaces.http.meters import Meters
from interfaces.http.problems import COMMON, RefusedError, documented
from interfaces.http.service import Keyed, Reader, Served, Service, Uploader, Writer
from interfaces.http.uploads import Uploads

_FORMATS = "Text, Markdown, HTML, PDF, DOCX, CSV, TSV, JSON, JSONL."
router = APIRouter(prefix="/ingest", tags=["documents"], responses=COMMON, route_class=Keyed)
JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="As POST /ingest returned it.")]
Corpus = Annotated[Name | SkipJsonSchema[None], Form(description="Named set of documents.")]


class Progress(BaseModel):
    """A job, with the number of files that are settled and that failed."""

    job: Job
    settled: int
    failed: int
    total: int

    @classmethod
    def of(cls, job: Job) -> Progress:
        """As it stands."""
        settled = [f for f in job.files if f.status is not None]
        failed = sum(f.status is Status.FAILED for f in settled)
        return cls(job=job, settled=len(settled), failed=failed, total=len(job.files))


@router.post("", status_code=status.HTTP_202_ACCEPTED, responses=documented(415, 507))
async def ingest(
    who: Uploader,
    served: Served,
    files: Annotated[list[UploadFile], File(min_length=1, max_length=1000, description=_FORMATS)],
    corpus: Corpus = None,
) -> Progress:
    """Accept files. They are on disk when this returns; a job reads them, and goes on after a restart.

    A file of the same name in the same corpus replaces the document.
    """
    sent = _by_name(files)
    sizes = {name: file.size or 0 for name, file in sent.items()}
    return Progress.of(await accept(who, corpus, {name: file.file for name, file in sent.items()}, sizes, served))


async def accept(
    who: Principal, corpus: str | None, content: Mapping[str, BinaryIO], sizes: dict[str, int], served: Service
) -> Job:
    """A job for these files, by name, that are on disk when this returns. Raises as the endpoint."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    try:
        async with served.quotas.room(scope, sizes):
            accepted = await _accepted(scope, content, sizes, served)
    except (UnknownFormatError, StoreError) as error:
        status_code = 415 if isinstance(error, UnknownFormatError) else 507
        raise RefusedError(status_code, error.kind, error.message, hint=error.hint) from error
    audit.tell("accepted", who, corpus=scope.corpus, documents=served.ids_of(accepted))
    return accepted


def _by_name(files: list[UploadFile]) -> dict[str, UploadFile]:
    """Raises `InputError` if two have the same name: one would replace the other."""
    named = {file.filename or "": file for file in files}
    if len(named) < len(files):
        (name, _), *_ = Counter(file.filename or "" for file in files).most_common(1)
        raise InputError(f"{name[:100]!r} was sent more than once.", hint="Give each file a name of its own.")
    return named


async def _accepted(scope: Scope, content: Mapping[str, BinaryIO], sizes: Mapping[str, int], served: Service) -> Job:
    staged = await asyncio.to_thread(served.uploads.stage, scope, content)
    try:
        return await served.jobs.accept(scope, sizes, staged.publish)
    finally:
        await asyncio.to_thread(staged.discard)


@router.get("/{job_id}", responses=documented(404))
async def job(who: Reader, served: Served, job_id: JobId) -> Progress:
    """How far a job is."""
    return Progress.of(await served.jobs.of(who.tenant, job_id))


@router.delete("/{job_id}", responses=documented(404))
async def cancel(who: Writer, served: Served, job_id: JobId) -> Progress:
    """Stop a job. Documents that are stored stay; the others are not read."""
    job = await served.jobs.cancel(who.tenant, job_id)
    audit.tell("cancelled", who, corpus=job.corpus, documents=served.ids_of(job))
    return Progress.of(job)


@router.post("/{job_id}/retry", responses=documented(404))
async def retry(who: Writer, served: Served, job_id: JobId) -> Progress:
    """Read the files that failed, or that a cancelled job left, once more."""
    job = await served.jobs.retry(who.tenant, job_id)
    audit.tell("retried", who, corpus=job.corpus, documents=served.ids_of(job))
    return Progress.of(job)


def reader_of(rag: DiscoRAG, uploads: Uploads, meters: Meters) -> Ingest:
    """What a job does with a file: the ingest graph over it alone."""

    async def read(scope: Scope, name: str, again: bool) -> tuple[DocumentOutcome, tuple[Failure, ...]]:
        path = uploads.path(scope, name)
        result = await rag.aingest(path, tenant=scope.tenant, corpus=scope.corpus, refresh=again, index=False)
        meters.observe(result.ledger)
        if not result.outcomes:
            raise DiscoRagError(f"{name} was not read.", hint="Upload it again.")
        outcome = result.outcomes[-1]
        note = outcome.note.replace(str(path.resolve().parent) + "/", "")
        return outcome.model_copy(update={"note": note}), result.ledger.failures

    return read
