"""Errors as responses: every refusal is one JSON shape with the right status, which OpenAI clients read too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.types import Scope

from discorag.schema.errors import (
    ContextTooLongError,
    DiscoRagError,
    EmptyCorpusError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    RateLimitedError,
    StoreError,
    StoreFullError,
)

_STATUS: tuple[tuple[type[DiscoRagError], int], ...] = (
    (NotFoundError, 404),
    (EmptyCorpusError, 404),
    (StoreFullError, 507),
    (StoreError, 503),
    (ContextTooLongError, 422),
    (ModelUnavailableError, 503),
    (RateLimitedError, 503),
    (ModelError, 502),
)
_log = structlog.get_logger("disco_rag.api")
_RETRY_S = "5"
"""``Retry-After`` where nothing better is known, in seconds."""


class ErrorBody(BaseModel):
    """What went wrong. ``type`` is the name under which it is counted, ``hint`` what to do about it."""

    type: str
    message: str
    hint: str = ""
    code: str | None = None
    param: str | None = None


class Problem(BaseModel):
    """An error."""

    error: ErrorBody


class RefusedError(Exception):
    """A request that is turned away before any work: no key, no role, too much at once."""

    def __init__(
        self, status: int, kind: str, message: str, *, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind
        self.problem = Problem(error=ErrorBody(type=kind, message=message, hint=hint))
        self.headers = dict(headers or {})

    def __reduce__(self) -> tuple[Any, ...]:
        """What it is made of again in another process, beside its attributes."""
        return type(self), (self.status, self.kind, str(self)), self.__dict__


def problem_of(error: Exception) -> tuple[int, Problem]:
    """Status and body of an error that ends a request; one that was not raised on purpose is for the log alone."""
    match error:
        case RefusedError():
            return error.status, error.problem
        case DiscoRagError():
            status = next((status for kind, status in _STATUS if isinstance(error, kind)), 422)
            return status, Problem(error=ErrorBody(type=error.kind, message=error.message, hint=error.hint))
        case TimeoutError():
            hint = "Ask for less (fewer documents, an engine that is local), or raise DISCO_RAG_API__DEADLINE_S."
            message = "The request could not be answered in time."
            return 504, Problem(error=ErrorBody(type="DeadlineError", message=message, hint=hint))
        case _:
            _log.error("failed", exc_info=error)
            hint = "The server's log has it under the request id of the response's headers."
            return 500, Problem(error=ErrorBody(type="InternalError", message="Something went wrong.", hint=hint))


def response_of(error: Exception) -> JSONResponse:
    """The response to an error."""
    status, problem = problem_of(error)
    headers = error.headers if isinstance(error, RefusedError) else {}
    if status == 503:
        headers = {"Retry-After": _RETRY_S} | headers
    return JSONResponse(problem.model_dump(), status, headers)


def handle_errors(app: FastAPI) -> None:
    """Make every error that is raised on purpose a `Problem`; `interfaces.http.middleware.Watched` does the others."""

    async def ours(request: Request, error: Exception) -> JSONResponse:
        if isinstance(error, RefusedError):
            request.app.state.service.meters.refused.labels(error.kind).inc()
        return response_of(error)

    for kind in (RefusedError, DiscoRagError, TimeoutError):
        app.add_exception_handler(kind, ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    """422 with the first fields that are wrong; the values are not repeated, they may be long or secret."""
    found = cast("RequestValidationError", error).errors()
    said = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in found[:5])
    body = ErrorBody(type="InvalidRequestError", message=said[:2000], hint="See /docs.")
    return JSONResponse(Problem(error=body).model_dump(), 422)


async def _plain(_: Request, error: Exception) -> JSONResponse:
    raised = cast("HTTPException", error)
    body = ErrorBody(type="HttpError", message=str(raised.detail), hint="See /docs.")
    return JSONResponse(Problem(error=body).model_dump(), raised.status_code, raised.headers)


def declared(scope: Scope) -> int:
    """Bytes of the body as the client announces them; 0 if it does not."""
    value = dict(scope["headers"]).get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0


_SAID = {
    400: "The body cannot be read.",
    401: "No valid key.",
    403: "The key may not do this.",
    404: "There is no such thing, or nothing to answer from.",
    413: "The request is too large.",
    415: "No loader reads files of this kind.",
    422: "The request cannot be carried out as it is.",
    429: "More than the key or its tenant may have; see Retry-After where waiting helps.",
    502: "A model's server gave nothing of use.",
    503: "Something that is needed is unavailable; see Retry-After.",
    504: "Not answered in time.",
    501: "The store has no backup.",
    507: "The disk is full; nothing was kept.",
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's responses for these statuses."""
    return {status: {"model": Problem, "description": _SAID[status]} for status in statuses}


COMMON = documented(400, 401, 403, 413, 422, 429, 503, 504)
"""What every request with a key can end in."""
