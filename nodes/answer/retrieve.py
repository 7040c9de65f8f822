"""retrieve: the query's best chunks."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from discorag.relations.engine import RELATION_ENGINES
from discorag.relations.follow import WIDER, Wanted, followed, wanted
from discorag.store.protocol import Hit, SearchQuery
from discorag.store.retrieval import check_query, everything, found
from discorag.trees.registry import RETRIEVERS
from discorag.types.case import Case
from nodes.answer.retrieve_trees import retrieve_trees
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def retrieve(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Embed the query and search the scope, or take all of it. A new question in a thread starts with an empty ledger.

    Raises:
        QueryError: The query is empty or longer than the encoder's window.
        EmptyCorpusError: The scope holds nothing that could be searched.
    """
    context = answer_context(runtime)
    if context.retriever == "all":
        return await retrieve_all(state, runtime)
    query = check_query(state["query"])
    if context.retriever in RETRIEVERS:
        return await retrieve_trees(query, state, context)
    stage = Stage("retrieve")
    asked = wanted(query) if context.follow else None
    hits = await (_following(query, asked, state, context) if asked else search(query, state, context))
    return await _update(hits, context, stage, f", following {asked.name}" if asked else "")


async def retrieve_all(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Take every chunk of the scope, in document order, as far as it fits the reader. Raises as `retrieve`."""
    context, stage = answer_context(runtime), Stage("retrieve")
    check_query(state["query"])
    deps, scope = await context.deps(), await context.scope()
    counter, room = deps.encoder.tokens, context.room(deps)
    filters = state.get("filters") or {}
    hits = await asyncio.to_thread(everything, deps.store, scope, filters, counter=counter, room=room)
    return await _update(hits, context, stage)


async def _following(query: str, asked: Wanted, state: AnswerState, context: AnswerContext) -> list[Hit]:
    """The best chunks, and of the next best those that hang on them by a relation that the question asks for."""
    hits = await search(query, state, context, wider=WIDER)
    deps, scope = await context.deps(), await context.scope()
    chunks = await asyncio.to_thread(deps.store.chunks, scope, [h.chunk_id for h in hits])
    engine = await asyncio.to_thread(RELATION_ENGINES["local"], deps)  # reads its weights at first
    graph = (await engine.relate(Case(query=query, chunks=tuple(chunks)))).value
    return [hits[i] for i in followed(chunks, graph, asked, context.top_k)]


async def search(query: str, state: AnswerState, context: AnswerContext, *, wider: int = 1) -> list[Hit]:
    """The ``top_k`` best chunks, times ``wider``, for one query under the question's filters."""
    deps = await context.deps()
    wanted = SearchQuery(
        vector=await deps.encoder.encode_query(query),
        text=query,
        retrieval="hybrid" if context.retriever == "hybrid" else "dense",
        top_k=context.top_k * wider,
        filters=state.get("filters") or {},
    )
    return await asyncio.to_thread(deps.store.search, await context.scope(), wanted)


async def _update(hits: list[Hit], context: AnswerContext, stage: Stage, how: str = "") -> Json:
    deps, hits = await context.deps(), found(hits, await context.scope())
    ledger = stage.done(engine="local", model=deps.encoder.version, preview=f"{len(hits)} chunks{how}")
    return {"hits": [asdict(h) for h in hits], "refused": False, "evidence": {}, "ledger": Overwrite(ledger)}
