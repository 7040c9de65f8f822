"""What the server acknowledged, and whether it kept it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict

from discorag.types.errors import InvariantError

_POLL_S = 0.3


class Promise(BaseModel):
    """A job that was acknowledged: its files are to be documents, or to be reported failed."""

    model_config = ConfigDict(frozen=True)

    job_id: str
    corpus: str
    names: tuple[str, ...]


class Refusal(BaseModel):
    """An ingest that was not acknowledged."""

    model_config = ConfigDict(frozen=True)

    status: int
    error: str


def post(client: httpx.Client, corpus: str, files: Mapping[str, str]) -> Promise | Refusal:
    """POST /ingest of these texts by their names."""
    sent = [("files", (name, text.encode())) for name, text in files.items()]
    try:
        reply = client.post("/ingest", files=sent, data={"corpus": corpus})
    except httpx.TransportError as error:
        return Refusal(status=0, error=type(error).__name__)
    if reply.status_code != HTTPStatus.ACCEPTED:
        return Refusal(status=reply.status_code, error=error_of(reply))
    return Promise(job_id=reply.json()["job"]["id"], corpus=corpus, names=tuple(files))


def error_of(reply: httpx.Response) -> str:
    """Name of the error that a response reports; what it says otherwise."""
    try:
        return reply.json()["error"]["type"]
    except (ValueError, LookupError, TypeError):
        return f"no error body: {reply.text[:200]!r}"


def promised(client: httpx.Client, corpus: str, files: Mapping[str, str]) -> Promise:
    """`post`, which must be acknowledged. Raises `InvariantError` if it is not."""
    made = post(client, corpus, files)
    if isinstance(made, Refusal):
        raise InvariantError(f"POST /ingest of {sorted(files)} was refused: {made.status} {made.error}.")
    return made


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


def retry_failed(client: httpx.Client, promises: Iterable[Promise], *, seconds: float) -> int:
    """Have the failed files read once more, and wait. Returns how many jobs had some."""
    settled = settle(client, promises, seconds=seconds)
    failed = [p for p in promises if (said := settled[p.job_id]) and said["job"]["ended"] and said["failed"]]
    for promise in failed:
        client.post(f"/ingest/{promise.job_id}/retry").raise_for_status()
    settle(client, failed, seconds=seconds)
    return len(failed)


def lost(client: httpx.Client, promises: Sequence[Promise], *, seconds: float) -> list[str]:
    """What was acknowledged and is neither stored whole nor reported failed with a reason."""
    settled = settle(client, promises, seconds=seconds)
    corpora = {p.corpus for p in promises}
    whole = {corpus: whole_documents(client, corpus) for corpus in corpora}
    return [said for p in promises for said in broken(p, settled[p.job_id], whole[p.corpus])]


def broken(promise: Promise, progress: Mapping[str, Any] | None, whole: frozenset[str]) -> list[str]:
    """The promises that this job broke, in words.

    Args:
        promise: The job as it was acknowledged.
        progress: What GET /ingest/{job_id} says; None: it is not known.
        whole: Names of the documents that are stored with all their chunks.
    """
    files: list[dict[str, Any]] = progress["job"]["files"] if progress else []
    said = {f["name"]: f for f in files}
    return [f"{promise.corpus}/{name}: {why}" for name in promise.names if (why := _why(said.get(name), name in whole))]


def _why(file: dict[str, Any] | None, is_whole: bool) -> str:
    if file is None:
        return "the job is not known"
    if file["status"] is None:
        return "it was never settled"
    if file["status"] == "failed":
        return "" if file["note"] else "it failed without a reason"
    return "" if is_whole else f"it is {file['status']}, but not stored whole"


def whole_documents(client: httpx.Client, corpus: str) -> frozenset[str]:
    """Names of the documents whose chunks are all there."""
    listed = client.get("/documents", params={"corpus": corpus, "limit": 1000}).raise_for_status().json()["documents"]
    return frozenset(d["name"] for d in listed if _chunks(client, corpus, d["doc_id"]) == d["chunks"] > 0)


def _chunks(client: httpx.Client, corpus: str, doc_id: str) -> int:
    reply = client.get(f"/trees/{doc_id}", params={"corpus": corpus})
    return len(reply.json()) if reply.is_success else 0
