"""prepare: make the question self-contained, and choose how to search for evidence."""

from typing import Any, Literal, get_args

from langgraph.runtime import Runtime
from langgraph.types import Command, Overwrite

from discorag.generation.prompted.rewriting import standalone
from discorag.models.protocol import Message
from discorag.retrieval.registry import RETRIEVERS, ChunkRetriever
from discorag.schema.answer import Outcome
from discorag.schema.errors import ModelError, QueryError
from discorag.store.retrieval import check_query
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState, fresh_answer

Route = Literal["retrieve_chunks", "retrieve_sentence_tree", "route_headings", "read_all"]
ROUTES: tuple[Route, ...] = get_args(Route)


async def prepare(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Route]:
    """Make a follow-up question self-contained and choose the route; the ledger starts empty.

    Raises:
        QueryError: The query is empty, or the input has none.
    """
    query: Any = state.get("query")  # a client of Studio may send anything
    if not isinstance(query, str):
        hint = 'Give {"query": "..."}; the corpus and other options go into the context.'
        raise QueryError("The input has no text under 'query'.", hint=hint)
    context, stage = await answer_context(state, runtime), Stage("prepare")
    question = await _self_contained(check_query(query), state, context, stage)
    route = route_of(context.retriever)
    stage.record_route(route, f"the retriever is {context.retriever}")
    model = (await context.open_backends()).model
    name = model.name if model and question.usage.calls else ""
    ledger = stage.done(engine="llm" if name else "local", model=name, outcome=question, preview=question.value)
    return Command(goto=route, update={**fresh_answer(), "question": question.value, "ledger": Overwrite(ledger)})


def route_of(retriever: str) -> Route:
    """The node that retrieves as this retriever does."""
    found = RETRIEVERS[retriever]
    if isinstance(found, ChunkRetriever):
        return "retrieve_chunks" if found.search else "read_all"
    return "route_headings" if found.routed else "retrieve_sentence_tree"


async def _self_contained(query: str, state: AnswerState, context: AnswerContext, stage: Stage) -> Outcome[str]:
    """The question as it would be asked without what was said before; as it stands where no model can do that."""
    backends, turns = await context.open_backends(), state.get("history") or []
    if not turns or backends.model is None:
        return Outcome(value=query)
    history = [
        Message(role="assistant" if turn["role"] == "assistant" else "user", content=turn["content"]) for turn in turns
    ]
    try:
        reply = await standalone(query, history, backends.model, backends.template("standalone"))
    except ModelError as error:
        stage.failed(error, fallback="the question as it stands")
        return Outcome(value=query)
    return Outcome(value=reply.value, usage=reply.usage, prompt_hash=reply.prompt_hash)
