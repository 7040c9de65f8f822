"""route_headings: a router walks the headings of the best documents (RDR²), a round each time the node is run."""

from __future__ import annotations

from typing import Literal, cast

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.retrieval.registry import tree_retriever
from discorag.retrieval.rounds import Rounds
from discorag.retrieval.search import search_trees
from discorag.schema.errors import ReadOnlyStoreError
from nodes.context import AnswerContext, answer_context
from nodes.retrieval import Found, finish_tree_retrieval, record_effort, retrieve_chunks_instead, tree_search
from nodes.stage import Stage
from nodes.state import AnswerState, Json

Next = Found | Literal["route_headings"]


async def route_headings(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Next]:
    """One round: in every document that is still open select passages, unfold a heading, or refuse.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: As `nodes.retrieval.finish_retrieval`.

    Source: RDR² section 3.1.
    """
    context, stage = await answer_context(runtime), Stage("retrieve")
    retriever = tree_retriever(context.retriever)
    assert retriever is not None  # `prepare` chose this node
    assert retriever.walk is not None
    try:
        search = await search_trees(retriever, **await tree_search(state, context))
    except ReadOnlyStoreError as error:
        return await retrieve_chunks_instead(error, state, context, stage)
    if (query := search.query) is None:
        return await finish_tree_retrieval(search, None, context, stage)
    walks = state.get("walks")
    begun = Rounds.from_json(query, retriever.walk, walks) if walks else Rounds.begin(query, retriever.walk)
    rounds = await begun.next(query)
    if not rounds.unfinished:
        command = await finish_tree_retrieval(search, rounds.selection(query), context, stage)
        return Command(goto=command.goto, update={**cast("Json", command.update), "walks": rounds.to_json(query)})
    record_effort(stage, search.index)
    stage.usage += rounds.usage
    stage.failures += rounds.failures
    stage.record_route("route_headings", f"{rounds.unfinished} documents have more to show")
    return Command(
        goto="route_headings",
        update={"walks": rounds.to_json(query), "ledger": stage.done(engine="local", model="router")},
    )
