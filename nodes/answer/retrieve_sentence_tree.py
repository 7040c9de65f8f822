"""retrieve_sentence_tree: the evidence that a retriever over trees selects."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.retrieval.registry import TreeRetriever, tree_retriever
from discorag.retrieval.search import TreeSearch, search_trees
from discorag.schema.errors import ReadOnlyStoreError
from nodes.answer.retrieve_chunks import search_question
from nodes.context import AnswerContext, answer_context
from nodes.inputs import question_of
from nodes.retrieval import Found, finish_retrieval, finish_tree_retrieval
from nodes.stage import Stage
from nodes.state import AnswerState


async def retrieve_sentence_tree(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Documents first, then the nodes of their trees; the chunks in which the evidence stands, narrowed to it.

    Where trees have to be built and cannot be stored, the chunks are searched instead.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieval.finish_retrieval`.
    """
    context, stage = await answer_context(runtime), Stage("retrieve")
    retriever = tree_retriever(context.retriever)
    assert retriever is not None  # `prepare` chose this node
    search = await search_nodes(retriever, state, context, stage)
    if isinstance(search, Command):
        return search
    selected = await retriever.choose(search.query) if search.query else None
    return await finish_tree_retrieval(search, selected, context, stage)


async def search_nodes(
    retriever: TreeRetriever, state: AnswerState, context: AnswerContext, stage: Stage
) -> TreeSearch | Command[Any]:
    """The search over trees; where trees have to be built and cannot be stored, the update with chunks instead.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieval.finish_retrieval`.
    """
    backends, scope, question = await context.open_backends(), await context.scope(), question_of(state)
    tools, filters = backends.tree_tools(context.tree_engine(backends)), state.get("filters") or {}
    try:
        return await search_trees(retriever, tools, backends.store, scope, question, filters, context.tree_options)
    except ReadOnlyStoreError as error:  # trees are missing, and cannot be stored
        stage.failed(error, fallback="dense")
        hits = await search_question(question, state, context)
        return await finish_retrieval(hits.best, context, stage, copies=hits.copies)
