"""Files that the server acknowledged, and what became of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict

from discorag.schema.errors import InvariantError

_POLL_S = 0.3


class Promise(BaseModel):
    """A job that was acknowledged: its files are to be documents, or to be reported failed."""

    model_config = ConfigDict(frozen=True)

    job_id: str
    corpus: str
    names: tuple[str, ...]


def promised(client: httpx.Client, corpus: str, files: Mapping[str, str]) -> Promise:
    """POST /ingest of these texts by their names. Raises `InvariantError` if it is not acknowledged."""
    sent = [("files", (name, text.encode())) for name, text in files.items()]
    reply = client.post("/ingest", files=sent, data={"corpus": corpus})
    if reply.status_code != HTTPStatus.ACCEPTED:
        raise InvariantError(f"POST /ingest of {sorted(files)} was refused: {reply.status_code} {reply.text[:200]}.")
    return Promise(job_id=reply.json()["job"]["id"], corpus=corpus, names=tuple(files))


def settle(client: httpx.Client, promises: Iterable[Promise], *, seconds: float) -> dict[str, dict[str, Any] | None]:
    """Wait for the jobs to end.

    Returns:
        Job id -> what GET /ingest/{job_id} says, after at most ``seconds`` seconds for all of them; None: not known.
    """
    end, found = time.monotonic() + seconds, dict[str, dict[str, Any] | None]()
    for promise in promises:
        while True:
            reply = client.get(f"/ingest/{promise.job_id}")
            found[promise.job_id] = reply.json() if reply.is_success else None
            if not reply.is_success or reply.json()["job"]["ended"] or time.monotonic() > end:
                break
            time.sleep(_POLL_S)
    return found
