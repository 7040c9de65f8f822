"""GET /metrics: what the server counts, in the format of Prometheus.

Counters are those of one process; what is stored, what waits and the state of the model are read with every request.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from interfaces.http.access import Principal, Role
from interfaces.http.counters import REGISTRY
from interfaces.http.problems import COMMON
from interfaces.http.service import Guard, Keyed, Served, Service

router = APIRouter(tags=["operation"], responses=COMMON, route_class=Keyed)
Operator = Annotated[Principal, Depends(Guard(Role.OPERATE))]


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(_: Operator, served: Served) -> Response:
    """Figures of all tenants together, in the format of Prometheus. The key needs the role operate."""
    state = await asyncio.to_thread(_state_of, served)
    return Response(generate_latest(REGISTRY) + generate_latest(state), media_type=CONTENT_TYPE_LATEST)


def _state_of(served: Service) -> CollectorRegistry:
    """What the server is and has at the moment. Blocks. Raises `StoreError`."""
    registry, queue = CollectorRegistry(), served.table.queue_state()

    def gauge(name: str, help_: str, values: Mapping[str, float], label: str) -> None:
        made = Gauge(f"disco_rag_{name}", help_, [label], registry=registry)
        for value, number in values.items():
            made.labels(value).set(number)

    age = (datetime.now(UTC) - datetime.fromisoformat(queue.oldest)).total_seconds() if queue.oldest else 0.0
    under_way = Gauge("disco_rag_questions_under_way", "Questions that are being answered or wait.", registry=registry)
    under_way.set(served.under_way)
    waiting = Gauge("disco_rag_questions_waiting", "Questions that wait for their tenant's turn.", registry=registry)
    waiting.set(served.turns.waiting)
    Gauge("disco_rag_queue_age_seconds", "Age of the oldest job with a file to read.", registry=registry).set(age)
    documents = {"stored": served.rag.backends.store.count_documents(), "waiting": queue.files}
    gauge("documents", "Documents of all tenants by state.", documents, "state")
    state = served.model_state
    gauge("model", "State of the language model.", {s: float(s == state) for s in ("none", "used", "paused")}, "state")
    return registry
