"""GET /session, /corpora, /chunks and /trees, GET and DELETE /documents."""

from __future__ import annotations

import asyncio
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response, status
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from discorag.discourse.formats.table import FORMATS, written
from discorag.discourse.formats.text import tree_mermaid
from discorag.retrieval.levels import Levels, unfolded
from discorag.schema.chunk import Chunk
from discorag.schema.errors import NotFoundError
from discorag.store.records import Corpus as StoredCorpus
from discorag.store.records import Manifest
from interfaces.http import audit
from interfaces.http.keys import Role
from interfaces.http.problems import COMMON, documented
from interfaces.http.service import Keyed, Reader, Served, Writer

router = APIRouter(tags=["documents"], responses=COMMON, route_class=Keyed)
Order = Annotated[int, Field(ge=0, le=10**9)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
_FORMAT = Query(
    alias="format",
    description="Answer in this format instead; files that other tools read hold the tree of one chunk.",
    json_schema_extra={"enum": [*FORMATS]},
)
Corpus = Annotated[Name | SkipJsonSchema[None], Query(description="Named set of documents.")]


Ids = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=100)]], Query(alias="id", min_length=1, max_length=200)
]


class Session(BaseModel):
    """Whose documents a key opens, and what it is for; ``keys``: whether the server asks for one."""

    tenant: str
    roles: list[Role]
    keys: bool


class StoredDocument(BaseModel):
    """A stored document: ``name`` is the uploaded file's."""

    doc_id: str
    name: str
    title: str
    chunks: int
    content_hash: str


class Documents(BaseModel):
    """A part of the documents of a corpus, by name, and how many there are."""

    total: int
    documents: list[StoredDocument]


class Corpora(BaseModel):
    """The corpora that hold documents, by name."""

    corpora: list[StoredCorpus]


class Wanted(BaseModel):
    """Which of the documents of a corpus."""

    model_config = ConfigDict(extra="forbid")

    corpus: Name | SkipJsonSchema[None] = Field(default=None, description="Named set of documents.")
    offset: int = Field(default=0, ge=0, le=10**9)
    limit: int = Field(default=100, ge=1, le=1000)


class DocumentText(BaseModel):
    """A document's canonical text; ``pages``: where each page of a paged source starts in it, in characters."""

    doc_id: str
    title: str
    text: str
    media_type: str
    pages: tuple[int, ...]


class Level(BaseModel):
    """Which part of a document's tree is wanted."""

    model_config = ConfigDict(extra="forbid")

    corpus: Name | SkipJsonSchema[None] = Field(default=None, description="Named set of documents.")
    builder: Name | SkipJsonSchema[None] = Field(default=None, description="Whose tree; none: the first stored one.")
    node: list[Order] = Field(default=[], max_length=50, description="What lies below these; none: the roots.")
    offset: int = Field(default=0, ge=0, le=10**9, description="Of the children of each node.")
    limit: int = Field(default=100, ge=1, le=200, description="Of the children of each node.")


class ChunkTree(BaseModel):
    """A chunk with its RST tree, also drawn as a Mermaid flowchart."""

    chunk: Chunk
    mermaid: str


@router.get("/session")
async def session(who: Reader, served: Served) -> Session:
    """Who asks, and what the key is for."""
    return Session(tenant=who.tenant, roles=sorted(who.roles), keys=not served.access.is_open)


@router.get("/corpora")
async def corpora(who: Reader, served: Served) -> Corpora:
    """The named sets of documents, each with how many documents and chunks it has and when it was last written."""
    return Corpora(corpora=await asyncio.to_thread(served.rag.corpora, tenant=who.tenant))


@router.get("/documents")
async def documents(who: Reader, served: Served, wanted: Annotated[Wanted, Query()]) -> Documents:
    """The stored documents."""
    found = await asyncio.to_thread(served.rag.documents, tenant=who.tenant, corpus=wanted.corpus)
    part = found[wanted.offset : wanted.offset + wanted.limit]
    if part:
        scope = served.rag.scope(tenant=who.tenant, corpus=wanted.corpus)
        audit.tell("listed", who, corpus=scope.corpus, documents=[m.doc_id for m in part])
    return Documents(total=len(found), documents=[_shown(served.uploads.name_of(m.uri), m) for m in part])


@router.get("/documents/{doc_id}/text", responses=documented(404))
async def text(who: Reader, served: Served, doc_id: UUID, corpus: Corpus = None) -> DocumentText:
    """What spans are characters of: a document's canonical text."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    found = await asyncio.to_thread(served.rag.backends.store.document, scope, str(doc_id))
    audit.tell("read", who, corpus=scope.corpus, documents=[str(doc_id)])
    return DocumentText(doc_id=str(doc_id), **found.model_dump(include={"title", "text", "media_type", "pages"}))


@router.get("/chunks", responses=documented(404))
async def chunks(who: Reader, served: Served, ids: Ids, corpus: Corpus = None) -> list[Chunk]:
    """Passages by their ids, as hits and graphs name them, in their order; 404 if one is not there."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    found = await asyncio.to_thread(served.rag.backends.store.chunks, scope, ids)
    audit.tell("read", who, corpus=scope.corpus, documents=sorted({c.doc_id for c in found}))
    return found


@router.delete("/documents/{doc_id}", status_code=status.HTTP_204_NO_CONTENT, responses=documented(404, 507))
async def delete(who: Writer, served: Served, doc_id: UUID, corpus: Corpus = None) -> Response:
    """Delete a document, and the file that was uploaded."""
    scope, store = served.rag.scope(tenant=who.tenant, corpus=corpus), served.rag.backends.store
    manifest = await asyncio.to_thread(store.manifest, scope, str(doc_id))
    if manifest is None or not await asyncio.to_thread(store.delete, scope, str(doc_id)):
        raise NotFoundError(f"There is no document {doc_id}.", hint="GET /documents lists them.")
    audit.tell("deleted", who, corpus=scope.corpus, documents=[manifest.doc_id])
    if await asyncio.to_thread(served.uploads.remove, scope, manifest.uri):
        await asyncio.to_thread(served.table.remove_upload, scope, served.uploads.name_of(manifest.uri))
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.get(
    "/trees/{doc_id}",
    response_model=list[ChunkTree],
    responses=documented(404) | {200: {"content": {f.media_type: {} for f in FORMATS.values()}}},
)
async def trees(
    who: Reader,
    served: Served,
    doc_id: UUID,
    corpus: Corpus = None,
    chunk: Annotated[Order | SkipJsonSchema[None], Query(description="Only this chunk, from 0.")] = None,
    format_: Annotated[str | SkipJsonSchema[None], _FORMAT] = None,
) -> list[ChunkTree] | Response:
    """The RST tree of each chunk of a document; spans are characters of its canonical text."""
    scope = served.rag.scope(tenant=who.tenant, corpus=corpus)
    stored = await asyncio.to_thread(served.rag.backends.store.chunks_of, scope, str(doc_id))
    found = [c for c in stored if chunk in (None, c.order)]
    audit.tell("read", who, corpus=scope.corpus, documents=[str(doc_id)])
    if format_ is None:
        return [ChunkTree(chunk=c, mermaid=tree_mermaid(c)) for c in found]
    if not found:
        raise NotFoundError(f"Document {doc_id} has no chunk {chunk}.", hint=f"It has {len(stored)}, from 0.")
    return Response(written(found, format_), media_type=FORMATS[format_].media_type)


@router.get("/trees/{doc_id}/nodes", responses=documented(404))
async def nodes(who: Reader, served: Served, doc_id: UUID, wanted: Annotated[Level, Query()]) -> Levels:
    """The retrieval tree that is stored of a document, level by level; nothing is built."""
    scope, store = served.rag.scope(tenant=who.tenant, corpus=wanted.corpus), served.rag.backends.store
    part = (wanted.builder, wanted.node, wanted.offset, wanted.limit)
    found = await asyncio.to_thread(unfolded, store, scope, str(doc_id), *part)
    audit.tell("read", who, corpus=scope.corpus, documents=[str(doc_id)])
    return found


def _shown(name: str, m: Manifest) -> StoredDocument:
    return StoredDocument(doc_id=m.doc_id, name=name, title=m.title, chunks=m.chunks, content_hash=m.content_hash)
