"""retrieve_chunks: the question's best chunks."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.retrieval.search import search_chunks
from nodes.context import AnswerContext, answer_context
from nodes.inputs import question_of
from nodes.retrieval import Found, finish_retrieval, search_options
from nodes.stage import Stage
from nodes.state import AnswerState


async def retrieve_chunks(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Search the scope for the question.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieval.finish_retrieval`.
    """
    context, stage, question = await answer_context(runtime), Stage("retrieve"), question_of(state)
    backends, scope = await context.open_backends(), await context.scope()
    hits, read = await search_chunks(backends, scope, question, **search_options(state, context))
    return await finish_retrieval(hits, context, stage, read=read)
