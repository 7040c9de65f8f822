"""The steps of the baselines (`graphs.baselines`): Disco-RAG figs. 13, 15, 16 and 17. They need a language model."""

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from functools import partial
from itertools import accumulate

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from discorag.answering.passages import count_tokens
from discorag.generation.prompted.paper import PaperEngine, without_structure
from discorag.generation.prompted.prose import SPARE
from discorag.models.protocol import TokenCounter
from discorag.options import TOP_K
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.errors import ContextTooLongError, InputError, ModelError
from discorag.schema.ledger import WITHOUT_MODEL, Failure
from discorag.store.retrieval import check_query, nothing_in
from discorag.store.search import fuse_rankings
from nodes.answer.generate import draft_update
from nodes.answer.retrieve import find_chunks
from nodes.answer.verify import verify_draft
from nodes.backends import Backends
from nodes.context import AnswerContext, EvidenceCache, answer_context, given_context
from nodes.given import input_of, started_with
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json, fresh_answer

_SENT_AGAIN = 0.9
"""Share of the chunks that is sent again after a model refused them as too long."""


async def full_context(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: from whole documents (fig. 13), without the last of their chunks where the context holds no more."""
    context, read = await answer_context(state, runtime), 0

    async def call(engine: PaperEngine, inputs: AnswerInputs) -> Outcome[str]:
        nonlocal read
        outcome, read = await _answer_from_whole(engine, inputs, await context.open_backends())
        return outcome

    update = await _write_draft(state, runtime, call)
    return {**update, "hits": state.get("hits", [])[: read or None]}


async def _answer_from_whole(engine: PaperEngine, inputs: AnswerInputs, backends: Backends) -> tuple[Outcome[str], int]:
    """The answer, and how many chunks it was written from: fewer whenever the model refuses them as too long."""
    context, k = await backends.context_tokens(), len(inputs.chunks)
    read = await asyncio.to_thread(_fitting, engine, inputs, backends.encoder.tokens, context)
    while True:
        try:
            outcome = await engine.full_context(replace(inputs, chunks=inputs.chunks[:read]))
            break
        except ContextTooLongError:
            if read < 2:
                raise
            read = int(_SENT_AGAIN * read)
    if read < k:
        error = InputError(f"A context of {context} tokens holds {read} of the documents' {k} chunks.")
        failure = Failure.of("generate", error, fallback=f"the first {read} chunks")
        outcome = replace(outcome, failures=(*outcome.failures, failure))
    return outcome, read


def _fitting(engine: PaperEngine, inputs: AnswerInputs, counter: TokenCounter, context: int) -> int:
    """How many chunks fit, at least one; rather too few, since the model's tokens are estimated."""
    sizes = count_tokens(counter, [chunk.text for chunk in inputs.chunks])
    [whole] = count_tokens(counter, [engine.full_context_prompt(inputs)])
    room = context - engine.sampling.for_answer(len(sizes)) - SPARE - max(whole - sum(sizes), 0)
    return max(bisect_right([*accumulate(sizes)], room), 1)


async def plan_and_answer(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: plan and answer in one call (fig. 15)."""
    plan: str | None = None

    async def call(engine: PaperEngine, inputs: AnswerInputs) -> Outcome[str]:
        nonlocal plan
        outcome = await engine.retrieve_and_plan(inputs)
        plan = outcome.value[0].paragraph or None
        return outcome.holding(outcome.value[1])

    update = await _write_draft(state, runtime, call)
    return {**update, "plan": plan}


async def hint(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """plan: a plan and queries from the question alone (fig. 16, stage 1); if it fails, the question is searched."""
    new = input_of(state)
    context, stage = await answer_context(new, runtime), Stage("plan")
    reset = fresh_answer(started_with(given_context(new, runtime)))
    engine, query = await _engine(context), check_query(state["query"])
    try:
        outcome = await engine.hint(query)
    except ModelError as error:
        stage.failed(error, fallback="the question itself as the query")
        ledger = stage.done(engine="llm", model=engine.model.name)
        return {**reset, "queries": [query], "ledger": Overwrite(ledger)}
    plan, queries = outcome.value
    ledger = stage.done(engine="llm", model=engine.model.name, outcome=outcome, preview="; ".join(queries))
    turns = {"hint": outcome.text}
    found = {"plan": plan.paragraph, "queries": [*queries], "turns": turns}
    return {**reset, **found, "ledger": Overwrite(ledger)}


async def gather(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """retrieve: search for every query of the hint, fused by rank; ``top_k`` chunks in all. Raises as
    `retrieve_chunks`.
    """
    context, stage = await answer_context(state, runtime), Stage("retrieve")
    backends, scope = await context.open_backends(), await context.scope()

    top_k = context.top_k or TOP_K
    searches = await asyncio.gather(*(find_chunks(query, state, context, top_k) for query in state.get("queries", [])))
    best = fuse_rankings([found.best for found, _ in searches])
    take = partial(backends.store.take, each_text_once=True)
    own = await asyncio.to_thread(take, scope, lambda n: best[:n], top_k)
    if not own.best:
        raise await asyncio.to_thread(nothing_in, backends.store, scope)
    context.set_cache(EvidenceCache(found={i: chunk for _, read in searches for i, chunk in read.items()}))
    ledger = stage.done(engine="local", model=backends.encoder.version, preview=f"{len(own.best)} chunks")
    return {"hits": [asdict(h) for h in own.best], "copies": own.copies, "ledger": ledger}


async def after_hint(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: from what the queries found (fig. 16, stage 2)."""
    return await _write_draft(state, runtime, PaperEngine.answer_after_hint)


async def find_markers(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """relate: find discourse markers between chunks (fig. 17); if the call fails, there are none."""
    context, stage = await answer_context(state, runtime), Stage("relate")
    engine = await _engine(context)
    inputs = without_structure(await load_inputs(state, context))
    try:
        outcome = await engine.find_markers(inputs)
    except ModelError as error:
        stage.failed(error, fallback="no markers")
        return {"markers": [], "ledger": stage.done(engine="llm", model=engine.model.name)}
    ledger = stage.done(engine="llm", model=engine.model.name, outcome=outcome, preview="; ".join(outcome.value))
    return {"markers": outcome.value, "ledger": ledger}


async def answer_with_markers(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: standard RAG, with the discourse markers listed after the chunks."""
    lines = state.get("markers", [])
    return await _write_draft(state, runtime, partial(PaperEngine.answer_with_markers, lines=lines))


async def _write_draft(
    state: AnswerState,
    runtime: Runtime[AnswerContext],
    call: Callable[[PaperEngine, AnswerInputs], Awaitable[Outcome[str]]],
) -> Json:
    """The draft that a call makes; shown in one piece, because beams cannot be streamed."""
    context, stage = await answer_context(state, runtime), Stage("generate")
    engine = await _engine(context)

    async def write_and_show(inputs: AnswerInputs) -> Outcome[str]:
        outcome = await call(engine, inputs)
        stage.show_token(outcome.value)
        return outcome

    inputs = without_structure(await load_inputs(state, context))
    try:
        return await draft_update(inputs, context, stage, write_and_show, engine.model.name)
    except ModelError as error:
        if context.strict:
            raise
        stage.failed(error, fallback=WITHOUT_MODEL)
        return await draft_update(inputs, context, stage, None, "")


async def verify(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """verify: as in the answer graph, but a baseline never starts again."""
    return await verify_draft(state, runtime, starts_again=False)


async def _engine(context: AnswerContext) -> PaperEngine:
    """Raises `ConfigError` where no language model is configured."""
    return context.paper_engine(await context.open_backends())
