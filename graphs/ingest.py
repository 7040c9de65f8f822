"""The ingest graph drives a folder: scan, its documents page by page, sweep.

A document itself goes through a plain pipeline: `nodes.ingest.document`.
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
import asyncio
from collections.abc import Callable
from functools import cache, partial
from typing import Any, TypedDict, cast

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send

from discorag.models.loops import PerLoop
from graphs.steps import Graph, Steps
from nodes.context import IngestContext, ingest_context
from nodes.ingest.document import ingest_document
from nodes.ingest.folder import scan, sweep
from nodes.state import IngestInput, IngestOutput, IngestState, Json

CONCURRENCY = 4  # documents at once
PAGE = 256
"""Documents that are sent out in one step: the cost of a document grows with their number."""

_SLOTS = PerLoop(partial(asyncio.Semaphore, CONCURRENCY))


class _Sent(TypedDict):
    uri: str


async def _document(state: _Sent, runtime: Runtime[IngestContext]) -> Json:
    """One document, when one of the `CONCURRENCY` slots is free.

    ``max_concurrency`` is not used for this: it also holds back the writes of finished documents to a checkpointer,
    which LangGraph's server has.
    """
    async with await _SLOTS.get():
        return await ingest_document(state["uri"], ingest_context(runtime))


def _steps(given: type = IngestInput) -> Steps:
    """An empty graph over the state and options of an ingest."""
    return Steps(IngestState, context_schema=IngestContext, input_schema=given, output_schema=IngestOutput)


def build() -> Graph:
    """The compiled ingest graph."""
    steps = _steps()
    steps.add_node("scan", scan)
    steps.add_node("document", _document, input_schema=_Sent)
    steps.add_node("page", _page)
    steps.add_node("sweep", sweep)
    steps.add_edge(START, "scan")
    steps.add_conditional_edges("scan", _fan_out, ["document", "sweep"])
    steps.add_edge("document", "page")
    steps.add_conditional_edges("page", _fan_out, ["document", "sweep"])
    steps.add_edge("sweep", END)
    return steps.compile(name="ingest")


def build_around(documents: Any) -> Graph:
    """The same with a step of another engine, which takes all files at once."""
    steps = _steps()
    steps.add_sequence([("scan", scan), ("documents", documents), ("sweep", sweep)])
    steps.add_edge(START, "scan")
    steps.add_edge("sweep", END)
    return steps.compile(name="ingest-by-engine")


def _page(state: IngestState) -> Json:
    """Move on to the next page."""
    return {"sent": state.get("sent", 0) + PAGE}


def _fan_out(state: IngestState) -> list[Send] | str:
    sent = state.get("sent", 0)
    page = state.get("files", [])[sent : sent + PAGE]
    return [Send("document", {"uri": uri}) for uri in page] or "sweep"


graph = build()


@cache
def _build_one() -> Graph:
    steps = _steps(_Sent)
    steps.add_node("document", _document, input_schema=_Sent)
    steps.add_edge(START, "document")
    steps.add_edge("document", END)
    return steps.compile(name="ingest-one")


async def ingest_one(uri: str, context: IngestContext) -> Json:
    """The outcomes and the ledger of one document, stored by itself."""
    return cast("Json", await _build_one().ainvoke({"uri": uri}, context=context))


async def run_ingest(
    path: str, context: IngestContext, progress: Callable[[dict[str, Any]], None] | None = None, *, by: Graph = graph
) -> dict[str, Any]:
    """Run the graph, or one `build_around` another engine. What an interrupted run has stored is found unchanged.

    Raises:
        InputError: See `nodes.ingest.folder.scan`.
        ConfigError, StoreError: The settings cannot be used, or the store fails.
    """
    state: dict[str, Any] = {}
    async for mode, part in by.astream({"path": path}, context=context, stream_mode=["custom", "values"]):
        if mode == "custom" and progress:
            progress(cast("dict[str, Any]", part))
        elif mode == "values":
            state = cast("dict[str, Any]", part)
    return state
