"""A folder: which files to read, and which of those read earlier are gone."""

import asyncio

from langgraph.config import get_stream_writer
from langgraph.runtime import Runtime

from discorag.ingest.survey import DocumentOutcome, Status, Survey, absolute, below, find_vanished, survey
from discorag.schema.document import Scope
from discorag.schema.errors import InputError, MissingPathError
from discorag.store.store import Store
from nodes.context import IngestContext, ingest_context
from nodes.state import IngestState, Json


async def scan(state: IngestState, runtime: Runtime[IngestContext]) -> Json:
    """List the files at the path; repeated files and unknown formats are reported and left out.

    Raises:
        InputError: Missing path, unknown format, or a folder without any file to read, now or at an earlier ingest.
    """
    if not state.get("path"):
        hint = 'Name a file or a folder: {"path": "..."}; the corpus goes into the context.'
        raise MissingPathError("No path was given.", hint=hint)
    context = ingest_context(runtime)
    backends, scope = await context.open_backends(), await context.scope()
    path, result = await asyncio.to_thread(_survey, state["path"], backends.store, scope)
    get_stream_writer()({"event": "found", "documents": len(result.files), "aside": len(result.aside)})
    outcomes = [o.model_dump(mode="json") for o in result.aside]
    if context.uri and result.files != (path,):
        raise InputError("A uri names one document, and the path is a folder.", hint="Name one file.")
    return {"path": path, "sent": 0, "files": list(result.files), "outcomes": outcomes}


def _survey(path: str, store: Store, scope: Scope) -> tuple[str, Survey]:
    """The path in full, and what it holds. Blocks, and raises as `survey`."""
    path = absolute(path)
    return path, survey(path, emptied=lambda: store.has(scope, below(path)))


async def sweep(state: IngestState, runtime: Runtime[IngestContext]) -> Json:
    """Delete the documents whose files are gone. A file that could not be read this time keeps what is stored of it."""
    context = ingest_context(runtime)
    backends, scope = await context.open_backends(), await context.scope()
    path, met = state["path"], [DocumentOutcome(**o) for o in state.get("outcomes", [])]
    stored = await asyncio.to_thread(lambda: backends.store.under(scope, below(path)))
    gone = await asyncio.to_thread(find_vanished, path, stored, met, set(state.get("files", [])))
    outcomes: list[Json] = []
    for manifest in gone:
        await asyncio.to_thread(backends.store.delete, scope, manifest.doc_id)
        outcomes.append(DocumentOutcome(uri=manifest.uri, status=Status.DELETED).model_dump(mode="json"))
        get_stream_writer()({"event": "document", **outcomes[-1]})
    return {"outcomes": outcomes}
