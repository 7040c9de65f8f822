"""retrieve_chunks: the question's best chunks."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.discourse.relate.follow import wanted
from discorag.retrieval.search import search_chunks, search_following
from discorag.store.records import Hit
from discorag.store.retrieval import Distinct, distinct_chunks
from nodes.context import AnswerContext, EvidenceCache, answer_context
from nodes.inputs import question_of
from nodes.retrieved import Found, retrieved
from nodes.stage import Stage
from nodes.state import AnswerState


async def retrieve_chunks(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Search the scope for the question, and for what it asks about the best chunks where it may ``follow``.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieved.retrieved`.
    """
    context, stage, question = await answer_context(runtime), Stage("retrieve"), question_of(state)
    relations = wanted(question) if context.follow else None
    if relations is None:
        found = await search_question(question, state, context)
        return await retrieved(found.found, context, stage, copies=found.copies)
    backends, scope, filters = await context.open_backends(), await context.scope(), state.get("filters") or {}
    found, read = await search_following(
        backends, scope, question, relations, context.retriever, top_k=context.top_k, filters=filters
    )
    context.set_cache(EvidenceCache(found=read))
    preview = f"{len(found.found)} chunks, following {relations.name}"
    return await retrieved(found.found, context, stage, copies=found.copies, preview=preview)


async def search_question(question: str, state: AnswerState, context: AnswerContext) -> Distinct[Hit]:
    """The ``top_k`` best chunks for one question under the state's filters."""
    backends, scope, filters = await context.open_backends(), await context.scope(), state.get("filters") or {}
    found, read = await search_chunks(
        backends, scope, question, context.retriever, top_k=context.top_k, filters=filters
    )
    context.set_cache(EvidenceCache(found=read))
    return found


async def without_copies(hits: list[Hit], context: AnswerContext) -> Distinct[Hit]:
    """The ``top_k`` best of these, those of one text once."""
    backends, scope = await context.open_backends(), await context.scope()
    found, read = await asyncio.to_thread(distinct_chunks, backends.store, scope, lambda n: hits[:n], context.top_k)
    context.set_cache(EvidenceCache(found=read))
    return found
