"""A folder: which files to read, and which of those read earlier are gone."""

import asyncio
from functools import partial
from time import perf_counter

from langgraph.config import get_stream_writer
from langgraph.runtime import Runtime

from discorag.ingest.survey import DocumentOutcome, Status, absolute, below, find_vanished, survey
from discorag.schema.errors import MissingPathError, StoreError
from discorag.schema.ledger import Failure, StageRecord
from discorag.store.store import Store
from nodes.context import IngestContext, ingest_context
from nodes.state import IngestState, Json


async def scan(state: IngestState, runtime: Runtime[IngestContext]) -> Json:
    """List the files at the path; repeated files and unknown formats are reported and left out.

    Raises:
        InputError: Missing path, unknown format, or a folder without any file to read, now or at an earlier ingest; a
            bucket that cannot be listed.
    """
    if not state.get("path"):
        hint = 'Name a file or a folder: {"path": "..."}; the corpus goes into the context.'
        raise MissingPathError("No path was given.", hint=hint)
    context, path = ingest_context(runtime), absolute(state["path"])
    has = partial((await context.open_backends()).store.has, await context.scope(), below(path))
    result = await asyncio.to_thread(survey, path, emptied=has)
    get_stream_writer()({"event": "found", "documents": len(result.sources), "aside": len(result.aside)})
    outcomes = [o.model_dump(mode="json") for o in result.aside]
    return {"path": path, "sent": 0, "files": [s.uri for s in result.sources], "outcomes": outcomes}


async def sweep(state: IngestState, runtime: Runtime[IngestContext]) -> Json:
    """Delete the documents whose files are gone. A file that could not be read this time keeps what is stored of it."""
    context = ingest_context(runtime)
    backends, scope = await context.open_backends(), await context.scope()
    path, met = state["path"], [DocumentOutcome(**o) for o in state.get("outcomes", [])]
    stored = await asyncio.to_thread(backends.store.under, scope, below(path))
    gone = await asyncio.to_thread(find_vanished, path, stored, met, set(state.get("files", [])))
    outcomes: list[Json] = []
    for manifest in gone:
        await asyncio.to_thread(backends.store.delete, scope, manifest.doc_id)
        outcomes.append(DocumentOutcome(uri=manifest.uri, status=Status.DELETED).model_dump(mode="json"))
        get_stream_writer()({"event": "document", **outcomes[-1]})
    return {"outcomes": outcomes, **(await _optimise(backends.store) if context.index else {})}


async def _optimise(store: Store) -> Json:
    """The store indexed; where that fails, searches are slower and right, and it is counted."""
    start, failures = perf_counter(), ()
    try:
        await asyncio.to_thread(store.optimise)
    except StoreError as error:
        failures = (Failure.of("optimise", error, fallback="exact search"),)
    record = StageRecord(stage="optimise", seconds=perf_counter() - start, failures=failures)
    return {"ledger": [record.model_dump(mode="json")]}
