"""prepare: make the question self-contained, and choose how to search for evidence."""

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from discorag.generation.prompted.rewriting import standalone
from discorag.models.protocol import Message
from discorag.retrieval.registry import RETRIEVERS, ChunkRetriever
from discorag.schema.answer import Outcome
from discorag.schema.errors import ModelError, QueryError
from discorag.schema.ledger import WITHOUT_MODEL
from discorag.store.retrieval import check_query
from nodes.answer.review import check_review
from nodes.answer.routes import has_model_failed
from nodes.context import AnswerContext, answer_context, given_context
from nodes.given import input_of, started_with
from nodes.inputs import filters_of
from nodes.stage import Stage, is_out_of_reach
from nodes.state import AnswerState, Json, Route, fresh_answer


async def prepare(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Make a follow-up question self-contained and choose the route.

    The ledger starts empty, unless a later node came back because the language model failed: then the question is
    answered again from the start, without the model.

    Raises:
        QueryError: The query is empty, or the input has none.
        InputError: A filter cannot be used.
        ModelError: The language model failed, and the options are strict.
    """
    query: Any = state.get("query")  # a client of Studio may send anything
    if not isinstance(query, str):
        hint = 'Give {"query": "..."}; the corpus and other options go into the context.'
        raise QueryError("The input has no text under 'query'.", hint=hint)
    is_again = has_model_failed(state)
    new: AnswerState = {**(state if is_again else input_of(state)), "model_failed": is_again}
    filters_of(new)  # wrong ones are an error before anything is spent
    given = given_context(new, runtime)
    check_review(given)
    context, stage = await answer_context(new, runtime), Stage("prepare")
    question = Outcome(value=check_query(query))
    if context.is_written and state.get("history"):
        try:
            question = await _self_contained(question.value, state, context)
        except ModelError as error:
            if context.strict:
                raise
            new["model_failed"] = is_out_of_reach(error)
            fallback = WITHOUT_MODEL if new["model_failed"] else "the question as it stands"
            stage.failed(error, fallback=fallback)
            context = await answer_context(new, runtime)
    route = route_of(context.retriever)
    stage.record_route(route, f"the retriever is {context.retriever}")
    model = (await context.open_backends()).model
    name = model.name if model and question.usage.calls else ""
    ledger = stage.done(engine="llm" if name else "local", model=name, outcome=question, preview=question.value)
    return {
        **fresh_answer(started_with(given)),
        "question": question.value,
        "route": route,
        "is_written": context.is_written,
        "model_failed": new["model_failed"],
        "ledger": ledger if is_again else Overwrite(ledger),
    }


def route_of(retriever: str) -> Route:
    """How this retriever searches."""
    found = RETRIEVERS[retriever]
    if isinstance(found, ChunkRetriever):
        return "chunks" if found.search else "everything"
    return "headings" if found.routed else "sentence tree"


async def _self_contained(query: str, state: AnswerState, context: AnswerContext) -> Outcome[str]:
    """The question as it would be asked without what was said before. Raises `ModelError`."""
    backends = await context.open_backends()
    history = [
        Message(role="assistant" if turn["role"] == "assistant" else "user", content=turn["content"])
        for turn in state.get("history", [])
    ]
    reply = await standalone(query, history, backends.require_model(), backends.template("standalone"))
    return Outcome(value=reply.value, usage=reply.usage, prompt_hash=reply.prompt_hash)
