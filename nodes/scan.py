"""scan: which files there are to read."""

from __future__ import annotations

import asyncio
from pathlib import Path

from langgraph.config import get_stream_writer

from discorag.errors import MissingPathError
from discorag.ingest import survey
from nodes.state import IngestState, Json


async def scan(state: IngestState) -> Json:
    """List the files at the path; repeated files and unknown formats are reported and left out.

    Raises:
        InputError: Missing path, unknown format, or a folder without any file to read.
    """
    if not state["path"]:
        raise MissingPathError("No path was given.", hint="Name a file or a folder.")
    result = await asyncio.to_thread(survey, Path(state["path"]))
    get_stream_writer()({"event": "found", "documents": len(result.sources), "aside": len(result.aside)})
    outcomes = [o.model_dump(mode="json") for o in result.aside]
    return {"files": [s.uri for s in result.sources], "outcomes": outcomes}
