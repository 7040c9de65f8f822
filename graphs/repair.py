"""Read documents again from the texts that are stored, and build their trees again."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from discorag.ingest.survey import NOT_MADE, DocumentOutcome, Piece, Status, manifest_of, versions
from discorag.rst.parser import PARSERS
from discorag.store.check import Mended
from discorag.store.protocol import Manifest
from discorag.trees.registry import RETRIEVERS
from discorag.types.document import Document, Scope
from discorag.types.errors import ConfigError, DiscoRagError
from graphs.ingest import build_document
from nodes.context import IngestContext
from nodes.resources import Resources
from nodes.trees import tree_index

_FROM_TEXT = build_document("structure")
Progress = Callable[[DocumentOutcome], None]


async def complete(resources: Resources, mended: Mended, progress: Progress) -> list[DocumentOutcome]:
    """Make again what a store could not tell by itself; what became of each document that was read again."""
    outcomes: list[DocumentOutcome] = []
    for scope, document, manifest in mended.unread:
        outcomes.append(await _reread(resources, scope, document, manifest))
        progress(outcomes[-1])
    failed = {o.uri for o in outcomes if o.status is Status.FAILED}
    for scope, doc_id, builder in mended.trees:
        manifest = resources.store.manifest(scope, doc_id)
        if manifest and manifest.uri not in failed:
            await _regrow(resources, scope, manifest, builder)
    return outcomes


async def _reread(resources: Resources, scope: Scope, document: Document, old: Manifest) -> DocumentOutcome:
    parser = _parser_of(resources, old.versions.get("parser", ""))
    context = IngestContext(
        resources=resources, parser=parser, retriever="dense", tenant=scope.tenant, corpus=scope.corpus
    )
    engine = context.tree_engine(resources)
    made_by = NOT_MADE if engine == NOT_MADE else resources.parser(engine).version
    stages = versions(document.uri, resources.settings, parser=made_by, encoder=resources.encoder.version)
    key = uuid4().hex
    resources.workbench.pieces[key] = Piece(document, manifest_of(document, scope, stages), replaces=True)
    try:
        done: dict[str, Any] = await _FROM_TEXT.ainvoke({"uri": document.uri, "key": key}, context=context)
    except DiscoRagError as error:
        return DocumentOutcome(uri=document.uri, status=Status.FAILED, note=str(error))
    return DocumentOutcome.model_validate(done["outcomes"][-1])


def _parser_of(resources: Resources, version: str) -> str:
    """The parser that says that it is of this version; if none does, the one configured."""
    if version == NOT_MADE:
        return NOT_MADE
    for name in PARSERS:
        with suppress(ConfigError):  # it lacks what it needs
            if resources.parser(name).version == version:
                return name
    return "auto"


async def _regrow(resources: Resources, scope: Scope, manifest: Manifest, builder: str) -> None:
    """By the first retriever that has this builder; a builder that is not there any more is nobody's loss."""
    retriever = next((r for r in RETRIEVERS.values() if r.builder == builder), None)
    if retriever:
        parser = _parser_of(resources, manifest.versions.get("parser", ""))
        kind = resources.settings.parser.kind if parser in ("auto", NOT_MADE) else parser
        await tree_index(retriever, resources, scope, kind).ensure([manifest.doc_id])
