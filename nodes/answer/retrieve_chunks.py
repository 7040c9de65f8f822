"""retrieve_chunks: the question's best chunks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.discourse.relate.engine import RELATION_ENGINES
from discorag.discourse.relate.follow import WIDER, Wanted, followed, wanted
from discorag.schema.answer_inputs import AnswerInputs
from discorag.store.records import Hit, SearchQuery
from discorag.store.retrieval import Distinct, distinct_chunks
from nodes.context import AnswerContext, EvidenceCache, answer_context
from nodes.inputs import question_of
from nodes.retrieved import Found, retrieved
from nodes.stage import Stage
from nodes.state import AnswerState


async def retrieve_chunks(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Embed the question and search the scope.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieved.retrieved`.
    """
    context, stage, query = answer_context(runtime), Stage("retrieve"), question_of(state)
    asked = wanted(query) if context.follow else None
    found = await (_following(query, asked, state, context) if asked else search(query, state, context))
    preview = f"{len(found.found)} chunks, following {asked.name}" if asked else ""
    return await retrieved(found.found, context, stage, copies=found.copies, preview=preview)


async def _following(query: str, asked: Wanted, state: AnswerState, context: AnswerContext) -> Distinct[Hit]:
    """The best chunks, and of the next best those that hang on them by a relation that the question asks for."""
    wide = await search(query, state, context, wider=WIDER)
    backends, scope = await context.open_backends(), await context.scope()
    chunks = await asyncio.to_thread(backends.store.chunks, scope, [h.chunk_id for h in wide.found])
    engine = await asyncio.to_thread(RELATION_ENGINES["local"], backends)  # reads its weights at first
    graph = (await engine.relate(AnswerInputs(query=query, chunks=tuple(chunks)))).value
    return Distinct([wide.found[i] for i in followed(chunks, graph, asked, context.top_k)], wide.copies)


async def search(query: str, state: AnswerState, context: AnswerContext, *, wider: int = 1) -> Distinct[Hit]:
    """The ``top_k`` best chunks, times ``wider``, for one query under the question's filters."""
    backends, scope = await context.open_backends(), await context.scope()
    wanted = SearchQuery(
        vector=await backends.encoder.encode_query(query),
        text=query,
        retrieval="hybrid" if context.retriever == "hybrid" else "dense",
        top_k=context.top_k * wider,
        filters=state.get("filters") or {},
    )
    return await _distinct(
        lambda n: backends.store.search(scope, wanted.model_copy(update={"top_k": n})), context, wanted.top_k
    )


async def without_copies(hits: list[Hit], context: AnswerContext) -> Distinct[Hit]:
    """The ``top_k`` best of these, those of one text once."""
    return await _distinct(lambda n: hits[:n], context, context.top_k)


async def _distinct(find: Callable[[int], list[Hit]], context: AnswerContext, wanted: int) -> Distinct[Hit]:
    backends, scope = await context.open_backends(), await context.scope()
    found, read = await asyncio.to_thread(distinct_chunks, backends.store, scope, find, wanted)
    context.read(EvidenceCache(found=read))
    return found
