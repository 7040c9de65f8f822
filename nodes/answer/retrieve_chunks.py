"""retrieve_chunks: the question's best chunks."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.discourse.relate.follow import relation_filter
from discorag.retrieval.search import search_chunks
from nodes.context import AnswerContext, answer_context
from nodes.inputs import question_of
from nodes.retrieved import Found, retrieved, search_options
from nodes.stage import Stage
from nodes.state import AnswerState


async def retrieve_chunks(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Search the scope for the question, and for what it asks about the best chunks where it may ``follow``.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieved.retrieved`.
    """
    context, stage, question = await answer_context(runtime), Stage("retrieve"), question_of(state)
    backends, scope = await context.open_backends(), await context.scope()
    relations = relation_filter(question) if context.follow else None
    options = search_options(state, context)
    hits, read = await search_chunks(backends, scope, question, **options, relations=relations)
    preview = f"{len(hits.best)} chunks" + (f", following {relations.name}" if relations else "")
    return await retrieved(hits, context, stage, read=read, preview=preview)
