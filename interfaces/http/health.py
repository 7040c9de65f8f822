"""GET /healthz, /readyz and /metrics."""

import asyncio
from functools import partial

from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from interfaces.http.access import Role
from interfaces.http.problems import COMMON, error_responses
from interfaces.http.service import Guard, Keyed, Served, Service

router = APIRouter(tags=["operation"])
numbers = APIRouter(tags=["operation"], responses=COMMON, route_class=Keyed)
_PROBE_S = 3.0


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"


class Readiness(BaseModel):
    """Questions can be answered."""

    status: str = "ready"
    encoder: str


@router.get("/healthz")
async def healthz() -> Health:
    """Whether the process runs."""
    return Health()


@router.get("/readyz", responses=error_responses(503, 504))
async def readyz(served: Served) -> Readiness:
    """Whether questions can be answered: store and encoder respond. Checked at most every five seconds."""
    return await served.readiness(partial(_probe, served))


async def _probe(served: Service) -> Readiness:
    backends = served.rag.backends
    async with asyncio.timeout(_PROBE_S):
        await asyncio.to_thread(backends.store.manifest, served.rag.scope(), "probe")
        await backends.encoder.encode_query("probe")
    return Readiness(encoder=backends.encoder.version)


@numbers.get(
    "/metrics",
    response_class=Response,
    responses=COMMON | {200: {"content": {"text/plain": {}}}},
    dependencies=[Depends(Guard(Role.OPERATE))],
)
async def metrics(served: Served) -> Response:
    """Metrics for Prometheus."""
    return Response(generate_latest(served.meters.registry), media_type=CONTENT_TYPE_LATEST)
