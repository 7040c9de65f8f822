"""assess and abstain: whether the evidence answers the question, and the end of a run where it does not."""

import asyncio

from langgraph.runtime import Runtime

from discorag.generation.calibration import Assessment, absent_terms, asks_about_the_whole, assess_evidence
from discorag.generation.extractive import abstain_from
from discorag.generation.mentions import describe_absence
from discorag.generation.relevance import read_evidence
from discorag.models.packaged import language_warning
from discorag.options import PAPERS
from discorag.schema.answer import AnswerInputs
from discorag.schema.errors import ConfigError, InputError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import filters_of, load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json

NO_EVIDENCE = "No evidence is left: what was found was deleted or removed."


async def assess(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Decide whether the evidence seems to answer the question; if not, the update says ``because`` of what.

    A language model that writes decides this itself, so nothing is computed for it unless no evidence is left. The
    papers' presets decide by their own means, or not at all.
    """
    context, stage = await answer_context(state, runtime), Stage("assess")
    inputs = await load_inputs(state, context)
    if inputs.chunks and context.is_written:
        return {"ledger": stage.done(engine="off")}
    found = await _assess(inputs, context, stage) if inputs.chunks else Assessment(refusal=NO_EVIDENCE)
    because = found.refusal if context.abstain == "auto" else ""
    if because and inputs.chunks and (absent := absent_terms(inputs)):
        store, scope = (await context.open_backends()).store, await context.scope()
        because += await asyncio.to_thread(describe_absence, store, scope, filters_of(state), absent)
    known = "" if found.probability is None else f"probability {found.probability:.2f}"
    reason = because or known or f"there are {len(inputs.chunks)} chunks of evidence"
    stage.record_route("abstain" if because else "parse", reason)
    model = (await context.open_backends()).reranker.version if found.probability is not None else ""
    return {
        "answerable": found.probability,
        "unsure": found.unsure and not because,
        "because": because,
        "ledger": stage.done(engine="local", model=model, preview=known),
    }


async def _assess(inputs: AnswerInputs, context: AnswerContext, stage: Stage) -> Assessment:
    """Assess by the calibrated reranker.

    It says nothing about a language that it cannot read, nor about a question that no single sentence answers. A
    paper's preset is not assessed.
    """
    backends = await context.open_backends()
    if context.preset in PAPERS:
        return Assessment()
    text = "\n".join(chunk.text for chunk in inputs.chunks)
    models = [backends.encoder.version, backends.reranker.version]
    if warning := await asyncio.to_thread(language_warning, text, models):
        stage.failed(InputError(warning), fallback="the order that these models give, without refusal")
    if warning or asks_about_the_whole(inputs.query):
        return Assessment(unsure=True)
    calibration = backends.calibration
    if isinstance(calibration, ConfigError):
        stage.failed(calibration, fallback="every question is answered, with three sentences")
        return Assessment()
    table, relevance = await backends.selector.rank(inputs)
    logit = await read_evidence(inputs, table, relevance, backends.reranker)
    return assess_evidence(inputs, logit, calibration)


async def abstain(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """An answer without sentences that says why; the draft, if there was one, stays in the state."""
    context, stage = await answer_context(state, runtime), Stage("abstain")
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    answer = stage.with_notes(await abstain_from(inputs, backends.selector, state.get("because", "")), state)
    ledger = stage.done(engine="local", model=backends.reranker.version, preview=answer.abstained)
    return {"answer": answer.model_dump(mode="json"), "ledger": ledger}
