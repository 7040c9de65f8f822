"""The steps of the baselines (`graphs.baselines`): Disco-RAG figs. 13, 15, 16 and 17. They need a language model."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from discorag.errors import ModelError
from discorag.retrieve import check_query, found
from discorag.rhetoric.baselines import Baselines, Link
from discorag.rhetoric.engine import Case, Outcome
from discorag.rhetoric.paper import PaperEngine
from discorag.store.ranking import fused
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.generate import drafted
from nodes.retrieve import search
from nodes.stage import Stage
from nodes.state import AnswerState, Json
from nodes.templates import paper_templates


async def full_context(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: from whole documents (fig. 13)."""
    context = answer_context(runtime)
    calls = await _calls(context)
    return await drafted(await _bare(state, context), context, Stage("generate"), calls.full_context, _name(calls))


async def planned(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: plan and answer in one call (fig. 15)."""
    context = answer_context(runtime)
    calls, plans = await _calls(context), [""]

    async def write(case: Case) -> Outcome[str]:
        outcome = await calls.retrieve_and_plan(case)
        plans.append(outcome.value.plan.paragraph)
        return Outcome(value=outcome.value.answer, usage=outcome.usage, prompt_hash=outcome.prompt_hash)

    update = await drafted(await _bare(state, context), context, Stage("generate"), write, _name(calls))
    return {**update, "plan": plans[-1] or None}


async def hint(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """plan: a plan and queries from the question alone (fig. 16, stage 1); if it fails, the question is searched."""
    context, stage = answer_context(runtime), Stage("plan")
    calls, query = await _calls(context), check_query(state["query"])
    try:
        outcome = await calls.hint(query)
    except ModelError as error:
        stage.failed(error, fallback="the question itself is searched for")
        return {"queries": [query], "ledger": Overwrite(stage.done(engine="llm", model=_name(calls)))}
    plan, queries = outcome.value.plan.paragraph, list(outcome.value.queries)
    ledger = stage.done(engine="llm", model=_name(calls), outcome=outcome, preview="; ".join(queries))
    return {"plan": plan, "queries": queries, "turns": {"hint": outcome.text}, "ledger": Overwrite(ledger)}


async def gather(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """retrieve: every query of the hint, fused by rank; ``top_k`` chunks in all."""
    context, stage = answer_context(runtime), Stage("retrieve")
    rankings = await asyncio.gather(*(search(query, state, context) for query in state.get("queries", [])))
    hits = found(fused(rankings)[: context.top_k], await context.scope())
    model = (await context.deps()).encoder.version
    ledger = stage.done(engine="local", model=model, preview=f"{len(hits)} chunks")
    return {"hits": [h.model_dump() for h in hits], "ledger": ledger}


async def after_hint(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: from what the queries brought (fig. 16, stage 2)."""
    context = answer_context(runtime)
    calls = await _calls(context)
    return await drafted(await _bare(state, context), context, Stage("generate"), calls.after_hint, _name(calls))


async def mark(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """relate: discourse markers between chunks (fig. 17); if it fails there are none."""
    context, stage = answer_context(runtime), Stage("relate")
    calls = await _calls(context)
    case = await _bare(state, context)
    try:
        outcome = await calls.mark(case)
    except ModelError as error:
        stage.failed(error, fallback="no markers")
        return {"markers": [], "ledger": stage.done(engine="llm", model=_name(calls))}
    preview = ", ".join(f"{case.number(li.source)} {li.marker} {case.number(li.target)}" for li in outcome.value)
    ledger = stage.done(engine="llm", model=_name(calls), outcome=outcome, preview=preview)
    return {"markers": [link.model_dump() for link in outcome.value], "ledger": ledger}


async def marked(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """generate: standard RAG with the markers beside the chunks."""
    context = answer_context(runtime)
    calls = await _calls(context)
    links = [Link.model_validate(m) for m in state.get("markers", [])]

    async def write(case: Case) -> Outcome[str]:
        return await calls.marked(case, links)

    return await drafted(await _bare(state, context), context, Stage("generate"), write, _name(calls))


async def _calls(context: AnswerContext) -> Baselines:
    """Raises `ConfigError` where no language model is configured."""
    model = (await context.deps()).require_model()
    return Baselines(PaperEngine(model, paper_templates(), context.sampling))


async def _bare(state: AnswerState, context: AnswerContext) -> Case:
    """The case without structure: baselines read chunks only."""
    case = await case_of(state, context)
    chunks = tuple(c.model_copy(update={"tree": None}) for c in case.chunks)
    return replace(case, chunks=chunks, graph=None, plan=None)


def _name(calls: Baselines) -> str:
    return calls.engine.model.name
