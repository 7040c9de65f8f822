"""load: read one document; stop here if it is unchanged or cannot be read."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

from langgraph.graph import END
from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.ingest.survey import NOT_MADE, DocumentOutcome, Piece, Status, manifest_of, versions
from discorag.text.loaders import Source
from discorag.types.errors import InputError, MissingExtraError
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
        return Command(goto="grow", update={**done, "doc_id": piece})
    key = uuid4().hex
    (await context.deps()).workbench.pieces[key] = piece
    return Command(goto="structure", update={"key": key})


async def piece_of(uri: str, context: IngestContext) -> Piece | str:
    """The document at ``uri`` as it has to be stored; its id if it is stored like that already.

    Raises:
        InputError: See `discorag.ingest.reader.Reader.read`.
    """
    deps, scope = await context.deps(), await context.scope()
    document = await deps.reader.read(Source(Path(uri), uri), again=context.refresh)
    engine = context.tree_engine(deps)
    parser = NOT_MADE if engine == NOT_MADE else deps.parser(engine).version
    stages = versions(uri, deps.settings, parser=parser, encoder=deps.encoder.version)
    manifest = manifest_of(document, scope, stages)
    stored = await asyncio.to_thread(deps.store.manifest, scope, manifest.doc_id)
    if stored and stored.fingerprint == manifest.fingerprint and not context.refresh:
        return manifest.doc_id
    return Piece(document=document, manifest=manifest, replaces=stored is not None)
