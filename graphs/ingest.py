"""The ingest graph drives a folder: scan, its documents page by page, sweep.

A document itself goes through a plain pipeline: `nodes.ingest.document`.
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, cast
from weakref import WeakKeyDictionary

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from discorag.config import Settings
from discorag.discourse.parse.parser import PROMPTED
from discorag.ingest.survey import content_of
from discorag.schema.values import digest
from graphs.answer import Graph
from graphs.checkpoints import checkpoints
from nodes.context import IngestContext, ingest_context
from nodes.ingest.document import ingest_document
from nodes.ingest.folder import scan, sweep
from nodes.state import IngestInput, IngestOutput, IngestState, Json

CONCURRENCY = 4  # documents at once
PAGE = 256
"""Documents that are sent out in one step: the cost of a document grows with their number."""

_SLOTS: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class _Sent(TypedDict):
    uri: str


async def _document(state: _Sent, runtime: Runtime[IngestContext]) -> Json:
    """One document, when one of the `CONCURRENCY` slots is free.

    ``max_concurrency`` is not used for this: it also holds back the writes of finished documents to the checkpoint.
    """
    async with _SLOTS.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(CONCURRENCY)):
        return await ingest_document(state["uri"], ingest_context(runtime))


def build(**compile_options: Any) -> Graph:
    """The compiled ingest graph. Options go to ``compile``: a checkpointer, ..."""
    steps = StateGraph(IngestState, context_schema=IngestContext, input_schema=IngestInput, output_schema=IngestOutput)
    steps.add_node("scan", scan)
    steps.add_node("document", _document)
    steps.add_node("page", _page)
    steps.add_node("sweep", sweep)
    steps.add_edge(START, "scan")
    steps.add_conditional_edges("scan", _fan_out, ["document", "sweep"])
    steps.add_edge("document", "page")
    steps.add_conditional_edges("page", _fan_out, ["document", "sweep"])
    steps.add_edge("sweep", END)
    return steps.compile(name="ingest", **compile_options)


def build_around(documents: Any) -> Graph:
    """The same with a step of another engine, which takes all files at once."""
    steps = StateGraph(IngestState, context_schema=IngestContext, input_schema=IngestInput, output_schema=IngestOutput)
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
    steps = StateGraph(IngestState, context_schema=IngestContext, input_schema=_Sent, output_schema=IngestOutput)
    steps.add_node("document", _document)
    steps.add_edge(START, "document")
    steps.add_edge("document", END)
    return steps.compile(name="ingest-one")


async def ingest_one(uri: str, context: IngestContext) -> Json:
    """The outcomes and the ledger of one document, stored by itself."""
    return cast("Json", await _build_one().ainvoke({"uri": uri}, context=context))


async def run_ingest(
    path: str, context: IngestContext, progress: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """Run the graph. An ingest of the same folder that was interrupted is resumed; a file starts again.

    Raises:
        InputError, MissingExtraError: See `nodes.ingest.folder.scan`.
        StoreError: The store fails, or the disk with the checkpoints.
    """
    settings = (await context.open_backends()).settings
    if not Path(path).is_dir() or settings.store.kind == "memory":
        return await run_graph(graph, path, context, progress)
    async with checkpoints(settings.store.path, await _job(Path(path), context, settings)) as saver:
        return await run_graph(graph, path, context, progress, saver)


async def run_graph(
    graph: Graph,
    path: str,
    context: IngestContext,
    progress: Callable[[dict[str, Any]], None] | None,
    saver: BaseCheckpointSaver[Any] | None = None,
) -> dict[str, Any]:
    """Run a graph from a path to outcomes; with a saver that knows an interrupted run, the rest of that."""
    config: Any = {"configurable": {"thread_id": "ingest"}}
    checkpointed = graph.copy(update={"checkpointer": saver or InMemorySaver()})
    resumes = bool((await checkpointed.aget_state(config)).next)
    given = None if resumes else {"path": path}
    state: dict[str, Any] = {}
    stream = checkpointed.astream(given, config, context=context, stream_mode=["custom", "values"], durability="async")
    async for mode, part in stream:
        if mode == "custom" and progress:
            progress(cast("dict[str, Any]", part))
        elif mode == "values":
            state = cast("dict[str, Any]", part)
    return state


async def _job(path: Path, context: IngestContext, settings: Settings) -> str:
    """Name of a job: scope, settings, options and files. If any of them changes, the ingest starts again."""
    scope = await context.scope()
    files = await asyncio.to_thread(content_of, path)
    model = settings.llm_for("parser").model if context.parser in PROMPTED else ""
    job = [context.parser, context.retriever, model, str(context.refresh), str(settings.reading.chunk_tokens)]
    return digest("\x00".join([scope.tenant, scope.corpus, *job, str(path.resolve()), files]))[:32]
