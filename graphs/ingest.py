"""The ingest graph: scan, then each document on its own: load > structure > segment > parse > embed >
upsert > grow.
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from discorag.ingest.survey import content_of
from discorag.settings import Settings
from discorag.types.errors import StoreError
from discorag.types.ids import digest
from graphs.answer import Graph
from nodes.context import IngestContext, ingest_context
from nodes.ingest.embed import embed
from nodes.ingest.grow import grow
from nodes.ingest.load import load
from nodes.ingest.parse_document import parse_document
from nodes.ingest.scan import scan
from nodes.ingest.segment import segment
from nodes.ingest.structure import structure
from nodes.ingest.sweep import sweep
from nodes.ingest.upsert import upsert
from nodes.state import DocumentOutput, DocumentState, IngestInput, IngestOutput, IngestState

CONCURRENCY = 4  # documents on their way at once


def build_document(first: str = "load") -> Graph:
    """The graph of one document, from ``load`` or, where its text lies on the workbench already, ``structure``.

    It keeps no checkpoints: a document that was interrupted starts anew.
    """
    steps = StateGraph(DocumentState, context_schema=IngestContext, output_schema=DocumentOutput)
    if first == "load":
        steps.add_node("load", load, destinations=("structure", "grow", END))
    steps.add_node("structure", structure)
    steps.add_node("segment", segment)
    steps.add_node("parse", parse_document)
    steps.add_node("embed", embed, destinations=("upsert", END))
    steps.add_node("upsert", upsert)
    steps.add_node("grow", grow)
    steps.add_edge(START, first)
    steps.add_edge("structure", "segment")
    steps.add_edge("segment", "parse")
    steps.add_edge("parse", "embed")
    steps.add_edge("upsert", "grow")
    steps.add_edge("grow", END)
    return steps.compile(name="document", checkpointer=False)


_DOCUMENT = build_document()


async def _document(state: DocumentState, runtime: Runtime[IngestContext]) -> DocumentOutput:
    """One document, when one of the `CONCURRENCY` slots is free.

    ``max_concurrency`` is not used for this: it also holds back the writes of finished documents to the checkpoint.
    """
    deps = await ingest_context(runtime).deps()
    async with deps.workbench.slots(CONCURRENCY):
        done = await _DOCUMENT.ainvoke(state, context=runtime.context)
    return cast("DocumentOutput", done)


def build(**compile_options: Any) -> Graph:
    """The compiled ingest graph. Options go to ``compile``: a checkpointer, ..."""
    steps = StateGraph(IngestState, context_schema=IngestContext, input_schema=IngestInput, output_schema=IngestOutput)
    steps.add_node("scan", scan)
    steps.add_node("document", _document)
    steps.add_node("sweep", sweep)
    steps.add_edge(START, "scan")
    steps.add_conditional_edges("scan", _fan_out, ["document", "sweep"])
    steps.add_edge("document", "sweep")
    steps.add_edge("sweep", END)
    return steps.compile(name="ingest", **compile_options)


def _fan_out(state: IngestState) -> list[Send] | str:
    return [Send("document", {"uri": uri, "key": ""}) for uri in state.get("files", [])] or "sweep"


graph = build()


async def run_ingest(
    path: Path, context: IngestContext, progress: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """Run the graph with checkpoints on disk; an ingest of the same files that was cut off is taken up where it was.

    Raises:
        InputError: See `nodes.ingest.scan.scan`.
    """
    settings = (await context.deps()).settings
    thread = await _thread_of(path, context, settings)
    config: Any = {"configurable": {"thread_id": thread}}
    async with _checkpoints(settings) as saver:
        checkpointed = build(checkpointer=saver)
        resumes = bool((await checkpointed.aget_state(config)).next)
        given = None if resumes else {"path": str(path)}
        state: dict[str, Any] = {}
        stream = checkpointed.astream(
            given, config, context=context, stream_mode=["custom", "values"], durability="async", subgraphs=True
        )
        try:
            async for namespace, mode, part in stream:
                if mode == "custom" and progress:
                    progress(cast("dict[str, Any]", part))
                elif mode == "values" and not namespace:
                    state = cast("dict[str, Any]", part)
        except Exception:  # the next run tries again what failed, and finds what is stored unchanged
            await saver.adelete_thread(thread)
            raise
        await saver.adelete_thread(thread)
    return state


@asynccontextmanager
async def _checkpoints(settings: Settings) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    """Checkpoints lie in the store's folder: they say what is in this store, and go when it goes.

    Those of a server lie beside that folder, under the server's name.
    """
    store = settings.store
    if store.url is None and store.kind == "memory":
        yield InMemorySaver()
        return
    server = store.path.parent / "servers" / digest(f"{store.url}\x00{store.prefix}")[:16]
    file = (server if store.url else store.path) / "checkpoints.sqlite"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
            await saver.setup()
            yield saver
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{file} cannot be used: {error}.", hint="Remove it: it only holds where an ingest stopped."
        ) from error


async def _thread_of(path: Path, context: IngestContext, settings: Settings) -> str:
    """One thread for one job: the same scope, settings, switches and files. Anything else starts anew."""
    scope = await context.scope()
    files = await asyncio.to_thread(content_of, path)
    model = settings.llm.model if context.parser in ("llm", "paper") else ""
    job = [context.parser, context.retriever, model, str(context.refresh), str(settings.reading.chunk_tokens)]
    return digest("\x00".join([scope.tenant, scope.corpus, *job, str(path.resolve()), files]))[:32]
