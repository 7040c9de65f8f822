"""/session, /corpora, /chunks, /trees and /documents; /ingest and the jobs that it starts."""

import asyncio
import hashlib
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path as FilePath
from typing import Annotated, Self
from uuid import UUID

from fastapi import APIRouter, File, Form, Path, Query, Response, UploadFile, status
from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema

from discorag.config import NAMELESS
from discorag.discourse.formats import MEDIA_TYPES, write_trees
from discorag.ingest.loaders import SUFFIXES, bytes_of
from discorag.ingest.survey import DocumentOutcome, Status, unread_summary
from discorag.schema.document import Chunk, Markup, Scope, uploaded_name, uri_of_upload
from discorag.schema.errors import DiscoRagError, InputError, NotFoundError
from discorag.store.records import Manifest
from interfaces.facade import EXAMPLES, DiscoRAG
from interfaces.http.access import Role, log_access
from interfaces.http.jobs import Ingest, Job, Uploads
from interfaces.http.problems import COMMON, error_responses
from interfaces.http.service import Corpus, Keyed, Reader, Served, Uploader, Writer
from interfaces.results import Corpora, Documents

router = APIRouter(tags=["documents"], responses=COMMON, route_class=Keyed)
Order = Annotated[int, Field(ge=0, le=10**9)]
_FORMAT = Query(
    alias="format",
    description="Answer in this format instead; files that other tools read hold the tree of one chunk.",
    json_schema_extra={"enum": [*MEDIA_TYPES]},
)
_PDF = "application/pdf"
_FORMATS = "Text, Markdown, HTML, PDF, DOCX, PPTX, XLSX, EPUB, CSV, TSV."
JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="As POST /ingest returned it.")]
Ids = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=100)]], Query(alias="id", min_length=1, max_length=200)
]


class Session(BaseModel):
    """What the caller may do: the tenant and roles of its key. ``keys`` says whether this server needs keys at all.

    ``examples`` are questions that the example corpora answer, by corpus.
    """

    tenant: str
    roles: list[Role]
    keys: bool
    language_model: str
    formats: tuple[str, ...] = SUFFIXES
    examples: dict[str, list[str]]


class DocumentText(BaseModel):
    """A document's canonical text. ``pages``: where each page of a paged source starts in it, in characters.

    ``markup``: how much of the text is Markdown. ``unread``: how many of each kind of thing the file holds that the
    text does not.
    """

    doc_id: str
    title: str
    text: str
    markup: Markup
    pages: tuple[int, ...]
    unread: dict[str, int]


@cache
def _example_questions() -> dict[str, list[str]]:
    stored = tomllib.loads((EXAMPLES / "questions.toml").read_text("utf-8"))
    questions: dict[str, list[str]] = {}
    for question in (*stored["question"], *stored["extra"]):
        questions.setdefault(question["corpus"], []).append(question["text"])
    return questions


@router.get("/session")
async def session(who: Reader, served: Served) -> Session:
    """The tenant and roles of the key."""
    settings = served.rag.backends.settings.llm_for("reader")
    model = (settings.model if settings.model != NAMELESS else "unnamed") if settings.provider else ""
    roles, keys = sorted(who.roles), not served.access.is_open
    return Session(tenant=who.tenant, roles=roles, keys=keys, language_model=model, examples=_example_questions())


@router.get("/corpora")
async def corpora(who: Reader, served: Served) -> Corpora:
    """The named sets of documents, each with how many documents and chunks it has and when it was last written."""
    return await asyncio.to_thread(Corpora.of, served.rag.backends.store, who.tenant)


@router.get("/documents")
async def documents(
    who: Reader,
    served: Served,
    corpus: Corpus = None,
    offset: Order = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Documents:
    """The stored documents."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    found = await asyncio.to_thread(Documents.of, served.rag.backends.store, scope, offset, limit)
    if found.documents:
        log_access("listed", who, corpus=scope.corpus, documents=[d.doc_id for d in found.documents])
    return found


@router.get("/documents/{doc_id}/text", responses=error_responses(404))
async def text(who: Reader, served: Served, doc_id: UUID, corpus: Corpus = None) -> DocumentText:
    """A document's canonical text, to which spans refer."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    found = await asyncio.to_thread(served.rag.backends.store.document, scope, str(doc_id))
    log_access("read", who, corpus=scope.corpus, documents=[str(doc_id)])
    same = found.model_dump(include={"title", "text", "pages", "unread"})
    return DocumentText(doc_id=str(doc_id), markup=found.markup, **same)


@router.get(
    "/documents/{doc_id}/file", response_class=Response, responses=error_responses(404) | {200: {"content": {_PDF: {}}}}
)
async def file(who: Reader, served: Served, doc_id: UUID, corpus: Corpus = None) -> Response:
    """The PDF that a document was read from; 404 if the file is gone or has changed since."""
    scope, backends = served.rag.scope(tenant=who.tenant, corpus=corpus), served.rag.backends
    manifest = await asyncio.to_thread(backends.store.manifest, scope, str(doc_id))
    if manifest is None:
        raise NotFoundError(f"There is no document {doc_id}.", hint="GET /documents lists them.")
    name = uploaded_name(manifest.uri)
    path = served.uploads.path(scope, name) if name else FilePath(manifest.uri)
    data = await asyncio.to_thread(_original_pdf, path, manifest, backends.settings.reading.max_bytes)
    log_access("read", who, corpus=scope.corpus, documents=[str(doc_id)])
    return Response(data, media_type=_PDF, headers={"Content-Disposition": "inline", "Cache-Control": "no-store"})


def _original_pdf(path: FilePath, manifest: Manifest, max_bytes: int) -> bytes:
    """The bytes that were read. Raises `NotFoundError`; its message does not tell the path on this machine."""
    name = path.name
    if path.suffix.lower() != ".pdf":
        raise NotFoundError(f"{name} is not a PDF.", hint="GET /documents/ID/text has its text.")
    try:
        data = bytes_of(path, max_bytes=max_bytes)
    except InputError as error:
        raise NotFoundError(f"{name} is not where it was read.", hint="Add the file again.") from error
    if hashlib.sha256(data).hexdigest() != manifest.file_hash:
        raise NotFoundError(f"{name} has changed since it was read.", hint="Add the file again.")
    return data


@router.get("/chunks", responses=error_responses(404))
async def chunks(who: Reader, served: Served, ids: Ids, corpus: Corpus = None) -> list[Chunk]:
    """Passages by their ids, as hits and graphs name them, in the same order; 404 if one is missing."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    found = await asyncio.to_thread(served.rag.backends.store.chunks, scope, ids)
    log_access("read", who, corpus=scope.corpus, documents=sorted({c.doc_id for c in found}))
    return found


@router.delete("/documents/{doc_id}", status_code=status.HTTP_204_NO_CONTENT, responses=error_responses(404, 507))
async def delete(who: Writer, served: Served, doc_id: UUID, corpus: Corpus = None) -> Response:
    """Delete a document, and the file that was uploaded."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    if not await asyncio.to_thread(served.rag.backends.store.delete, scope, str(doc_id)):
        raise NotFoundError(f"There is no document {doc_id}.", hint="GET /documents lists them.")
    log_access("deleted", who, corpus=scope.corpus, documents=[str(doc_id)])
    await asyncio.to_thread(served.uploads.remove_deleted, served.table)
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.get(
    "/trees/{doc_id}",
    response_model=list[Chunk],
    responses=error_responses(404) | {200: {"content": {kind: {} for kind in MEDIA_TYPES.values()}}},
)
async def trees(
    who: Reader,
    served: Served,
    doc_id: UUID,
    corpus: Corpus = None,
    chunk: Annotated[Order | SkipJsonSchema[None], Query(description="Only this chunk, from 0.")] = None,
    format_: Annotated[str | SkipJsonSchema[None], _FORMAT] = None,
) -> list[Chunk] | Response:
    """The chunks of a document with their RST trees; spans are characters of its canonical text."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    stored = await asyncio.to_thread(served.rag.backends.store.chunks_of, scope, str(doc_id))
    found = [c for c in stored if chunk in (None, c.order)]
    log_access("read", who, corpus=scope.corpus, documents=[str(doc_id)])
    if format_ is None:
        return found
    if not found:
        raise NotFoundError(f"Document {doc_id} has no chunk {chunk}.", hint=f"It has {len(stored)}, from 0.")
    return Response(write_trees(found, format_), media_type=MEDIA_TYPES[format_])


class Progress(BaseModel):
    """A job with its number of files, how many of them are settled and have failed, and what could not be read."""

    job: Job
    settled: int
    failed: int
    total: int
    unread: str = ""

    @classmethod
    def of(cls, job: Job) -> Self:
        """The progress of a job."""
        settled = [f for f in job.files if f.status is not None]
        failed = sum(f.status is Status.FAILED for f in settled)
        unread = unread_summary(file.unread for file in job.files)
        return cls(job=job, settled=len(settled), failed=failed, total=len(job.files), unread=unread)


@router.post("/ingest", status_code=status.HTTP_202_ACCEPTED, responses=error_responses(415, 507))
async def ingest(
    who: Uploader,
    served: Served,
    files: Annotated[list[UploadFile], File(min_length=1, max_length=1000, description=_FORMATS)],
    corpus: Annotated[Corpus, Form()] = None,
) -> Progress:
    """Accept files. They are on disk when this returns; a job reads them, also after a restart.

    A file of the same name in the same corpus replaces the document.
    """
    [(name, times), *_] = Counter(file.filename or "" for file in files).most_common()
    if times > 1:
        raise InputError(f"{name[:100]!r} was sent more than once.", hint="Give each file a name of its own.")
    content = {file.filename or "": file.file for file in files}
    sizes = {file.filename or "": file.size or 0 for file in files}
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    await asyncio.to_thread(served.quotas.check_files, scope, sizes)
    staged = await asyncio.to_thread(served.uploads.stage, scope, content)

    def publish() -> None:
        served.quotas.check(scope.tenant)  # again: others may have uploaded meanwhile, also to other servers
        staged.publish()

    try:
        accepted = await served.jobs.accept(scope, sizes, publish)
    finally:
        await asyncio.to_thread(staged.discard)
    log_access("accepted", who, corpus=scope.corpus, documents=await served.ids_of(accepted))
    return Progress.of(accepted)


@router.get("/ingest/{job_id}", responses=error_responses(404))
async def job(who: Reader, served: Served, job_id: JobId) -> Progress:
    """The progress of a job."""
    return Progress.of(await served.jobs.get(who.tenant, job_id))


@router.delete("/ingest/{job_id}", responses=error_responses(404))
async def cancel(who: Writer, served: Served, job_id: JobId) -> Progress:
    """Stop a job. Documents that are stored stay; the others are not read."""
    job = await served.jobs.cancel(who.tenant, job_id)
    log_access("cancelled", who, corpus=job.corpus, documents=await served.ids_of(job))
    return Progress.of(job)


def reader_of(rag: DiscoRAG, uploads: Uploads) -> Ingest:
    """The function that reads a file of a job: an ingest of this file alone."""

    async def read(scope: Scope, name: str) -> DocumentOutcome:
        path = uploads.path(scope, name)
        uri = uri_of_upload(name)
        result = await rag.aingest(path, uri=uri, tenant=scope.tenant, corpus=scope.corpus)
        if not result.outcomes:
            raise DiscoRagError(f"{name} was not read.", hint="Upload it again.")
        outcome = result.outcomes[-1]
        note = outcome.note.replace(str(path.resolve().parent) + "/", "")
        return outcome.model_copy(update={"note": note})

    return read
