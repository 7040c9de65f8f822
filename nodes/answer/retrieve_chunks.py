"""retrieve_chunks: the question's best chunks."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.discourse.relate.follow import RelationFilter, relation_filter
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
    relations = relation_filter(question) if context.follow else None
    hits = await search_question(question, state, context, relations)
    preview = f"{len(hits.best)} chunks" + (f", following {relations.name}" if relations else "")
    return await retrieved(hits.best, context, stage, copies=hits.copies, preview=preview)


async def search_question(
    question: str, state: AnswerState, context: AnswerContext, relations: RelationFilter | None = None
) -> Distinct[Hit]:
    """The ``top_k`` best chunks under the state's filters; some by ``relations`` to the others, if given."""
    backends, scope, filters = await context.open_backends(), await context.scope(), state.get("filters") or {}
    options: dict[str, Any] = {"retriever": context.retriever, "top_k": context.top_k, "filters": filters}
    if relations:
        hits, read = await search_following(backends, scope, question, relations, **options)
    else:
        hits, read = await search_chunks(backends, scope, question, **options)
    context.set_cache(EvidenceCache(found=read))
    return hits


async def without_copies(hits: list[Hit], context: AnswerContext) -> Distinct[Hit]:
    """The ``top_k`` best of these, those of one text once."""
    backends, scope = await context.open_backends(), await context.scope()
    own, read = await asyncio.to_thread(distinct_chunks, backends.store, scope, lambda n: hits[:n], context.top_k)
    context.set_cache(EvidenceCache(found=read))
    return own
