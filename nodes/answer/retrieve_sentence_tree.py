"""retrieve_sentence_tree: the evidence that one of the papers' retrievers over trees, or a control, chooses."""

from __future__ import annotations

from langgraph.runtime import Runtime
from langgraph.types import Command

from nodes.context import AnswerContext, answer_context
from nodes.retrieved import Found
from nodes.stage import Stage
from nodes.state import AnswerState
from nodes.trees import Search


async def retrieve_sentence_tree(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Found]:
    """Documents first, then the nodes of their trees; the chunks in which the evidence stands, narrowed to it.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieved.retrieved`.
    """
    context, stage = answer_context(runtime), Stage("retrieve")
    search = await Search.of(state, context, stage)
    if search.asked is None:
        return await search.nothing()
    return await search.found(await search.retriever.choose(search.asked))
