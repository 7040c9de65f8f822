"""retrieve_chunks: the question's best chunks."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.retrieval.search import search_chunks
from discorag.store.records import Hit
from discorag.store.retrieval import Distinct, distinct_chunks
from nodes.context import AnswerContext, EvidenceCache, answer_context
from nodes.inputs import question_of
from nodes.retrieval import Found, finish_retrieval
from nodes.stage import Stage
from nodes.state import AnswerState


async def retrieve_chunks(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Search the scope for the question.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieval.finish_retrieval`.
    """
    context, stage = await answer_context(runtime), Stage("retrieve")
    hits = await search_question(question_of(state), state, context)
    return await finish_retrieval(hits.best, context, stage, copies=hits.copies, preview=f"{len(hits.best)} chunks")


async def search_question(question: str, state: AnswerState, context: AnswerContext) -> Distinct[Hit]:
    """The ``top_k`` best chunks under the state's filters."""
    backends, scope, filters = await context.open_backends(), await context.scope(), state.get("filters") or {}
    hits, read = await search_chunks(backends, scope, question, context.retriever, top_k=context.top_k, filters=filters)
    context.set_cache(EvidenceCache(found=read))
    return hits


async def without_copies(hits: list[Hit], context: AnswerContext) -> Distinct[Hit]:
    """The ``top_k`` best of these, those of one text once."""
    backends, scope = await context.open_backends(), await context.scope()
    own, read = await asyncio.to_thread(distinct_chunks, backends.store, scope, lambda n: hits[:n], context.top_k)
    context.set_cache(EvidenceCache(found=read))
    return own
