"""load: read one document; stop here if it is unchanged or cannot be read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.ingest.loaders import Source
from discorag.ingest.survey import NOT_MADE, DocumentOutcome, Piece, Status, manifest_of, versions
from discorag.schema.errors import InputError, MissingExtraError
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import settled
from nodes.state import DocumentState


async def load(state: DocumentState, runtime: Runtime[IngestContext]) -> Command[str]:
    """Put the document on the workbench, or settle it as unchanged or failed. A failure leaves what is stored."""
    context = ingest_context(runtime)
    try:
        piece = await piece_of(state["uri"], context)
    except (InputError, MissingExtraError) as error:
        outcome = DocumentOutcome(uri=state["uri"], status=Status.FAILED, note=str(error))
        return Command(goto=END, update=settled("load", outcome, error=error))
    if isinstance(piece, str):
        done = settled("load", DocumentOutcome(uri=state["uri"], status=Status.UNCHANGED))
        return Command(goto="build_tree", update={**done, "doc_id": piece})
    key = uuid4().hex
    (await context.open_backends()).workbench.pieces[key] = piece
    return Command(goto="structure", update={"key": key})


async def piece_of(uri: str, context: IngestContext) -> Piece | str:
    """The document at ``uri`` as it has to be stored; its id if it is stored like that already.

    Raises:
        InputError: See `discorag.ingest.reader.Reader.read`.
    """
    backends, scope = await context.open_backends(), await context.scope()
    document = await backends.reader.read(Source(Path(uri), uri), again=context.refresh)
    engine = context.tree_engine(backends)
    parser = NOT_MADE if engine == NOT_MADE else backends.parser(engine).version
    stages = versions(uri, backends.settings, parser=parser, encoder=backends.encoder.version)
    manifest = manifest_of(document, scope, stages)
    stored = await asyncio.to_thread(backends.store.manifest, scope, manifest.doc_id)
    if stored and stored.fingerprint == manifest.fingerprint and not context.refresh:
        return manifest.doc_id
    return Piece(document=document, manifest=manifest, replaces=stored is not None)
