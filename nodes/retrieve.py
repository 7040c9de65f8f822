"""retrieve: the query's best chunks."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from discorag.retrieve import check_query, everything, found
from discorag.store.protocol import SearchQuery
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
    stage = Stage("retrieve")
    deps, scope = await context.deps(), await context.scope()
    query = check_query(state["query"])
    filters = state.get("filters") or {}
    if context.retriever == "all":
        counter, room = deps.encoder.tokens, context.room(deps)
        hits = await asyncio.to_thread(everything, deps.store, scope, filters, counter=counter, room=room)
    else:
        vector = await deps.encoder.encode_query(query)
        search = SearchQuery(
            vector=vector, text=query, retrieval=context.retriever, top_k=context.top_k, filters=filters
        )
        hits = await asyncio.to_thread(deps.store.search, scope, search)
    hits = found(hits, scope)
    ledger = Overwrite(stage.done(engine="local", model=deps.encoder.version, preview=f"{len(hits)} chunks"))
    return {"hits": [h.model_dump() for h in hits], "ledger": ledger}
