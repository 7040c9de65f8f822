"""read_all: every chunk of the scope."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.store.retrieval import everything
from nodes.context import AnswerContext, answer_context
from nodes.retrieval import Found, finish_retrieval
from nodes.stage import Stage
from nodes.state import AnswerState


async def read_all(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Take every chunk, in document order, as far as it fits the reader.

    Raises:
        NotFoundError: As `discorag.store.retrieval.everything`.
        EmptyCorpusError: As `nodes.retrieval.finish_retrieval`.
    """
    context, stage = await answer_context(runtime), Stage("retrieve")
    backends, scope = await context.open_backends(), await context.scope()
    counter, room = backends.encoder.tokens, await context.room(backends)
    filters = state.get("filters") or {}
    every = await asyncio.to_thread(everything, backends.store, scope, filters, counter=counter, room=room)
    return await finish_retrieval(every, context, stage)
