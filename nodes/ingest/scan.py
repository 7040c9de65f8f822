"""scan: which files there are to read."""

from __future__ import annotations

import asyncio
from functools import partial

from langgraph.config import get_stream_writer
from langgraph.runtime import Runtime

from discorag.ingest.bucket import absolute, below, survey_at
from discorag.schema.errors import MissingPathError
from nodes.context import IngestContext, ingest_context
from nodes.state import IngestState, Json


async def scan(state: IngestState, runtime: Runtime[IngestContext]) -> Json:
    """List the files at the path; repeated files and unknown formats are reported and left out.

    Raises:
        InputError: Missing path, unknown format, or a folder without any file to read, now or at an earlier ingest; a
            bucket that cannot be listed.
    """
    if not state["path"]:
        raise MissingPathError("No path was given.", hint="Name a file or a folder.")
    context, path = ingest_context(runtime), absolute(state["path"])
    has = partial((await context.open_backends()).store.has, await context.scope(), below(path))
    result = await asyncio.to_thread(survey_at, path, emptied=has)
    get_stream_writer()({"event": "found", "documents": len(result.sources), "aside": len(result.aside)})
    outcomes = [o.model_dump(mode="json") for o in result.aside]
    return {"path": path, "sent": 0, "files": [s.uri for s in result.sources], "outcomes": outcomes}
