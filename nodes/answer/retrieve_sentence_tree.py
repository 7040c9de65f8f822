"""retrieve_sentence_tree: the evidence that a retriever over trees selects."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.retrieval.registry import tree_retriever
from discorag.retrieval.search import search_trees
from discorag.schema.errors import ReadOnlyStoreError
from nodes.context import AnswerContext, answer_context
from nodes.retrieval import Found, finish_tree_retrieval, retrieve_chunks_instead, tree_search
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
    try:
        search = await search_trees(retriever, **await tree_search(state, context))
    except ReadOnlyStoreError as error:
        return await retrieve_chunks_instead(error, state, context, stage)
    selected = await retriever.choose(search.query) if search.query else None
    return await finish_tree_retrieval(search, selected, context, stage)
