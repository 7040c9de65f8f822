"""assess: whether the evidence answers the question, before anything is made of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.answer.calibration import absent_terms, answer_inputs, find_calibration, stored_passages
from discorag.models.languages import language_warning
from discorag.text.terms import terms
from discorag.types.case import Case
from discorag.types.errors import ConfigError, InputError, ModelError
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.resources import Resources
from nodes.stage import Stage
from nodes.state import AnswerState

Next = Literal["relate", "abstain"]
NO_EVIDENCE = "No evidence is left: what was found was deleted or removed."


@dataclass(frozen=True)
class Assessment:
    """Whether the evidence answers the question.

    Args:
        probability: Calibrated; None where it is not known.
        refusal: Why the question is not answered; empty where it is.
        unsure: Whether the answer is shown as unsure.
    """

    probability: float | None = None
    refusal: str = ""
    unsure: bool = False


async def assess(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Next]:
    """Go on if the evidence seems to answer the question, else abstain.

    The papers' presets judge by their own means, or not at all.
    """
    context, stage = answer_context(runtime), Stage("assess")
    case = await case_of(state, context)
    found = await _assess(case, context, stage) if case.chunks else Assessment(refusal=NO_EVIDENCE)
    goto: Next = "abstain" if found.refusal and context.abstain == "auto" else "relate"
    known = "" if found.probability is None else f"probability {found.probability:.2f}"
    reason = found.refusal if goto == "abstain" else known or f"there are {len(case.chunks)} chunks of evidence"
    stage.record_route(goto, reason)
    update = {
        "answerable": found.probability,
        "unsure": found.unsure and goto == "relate",
        "because": found.refusal if goto == "abstain" else "",
        "ledger": stage.done(engine="local", model=(await context.deps()).reranker.version, preview=known),
    }
    return Command(goto=goto, update=update)


async def _assess(case: Case, context: AnswerContext, stage: Stage) -> Assessment:
    """Assess by the calibrated reranker; a question without content words, or a paper's preset, is not assessed."""
    deps = await context.deps()
    if context.preset != "ours" or not terms(case.query):
        return Assessment()
    passages = "\n".join(chunk.text for chunk in case.chunks)
    models = [deps.encoder.version, deps.reranker.version]
    if warning := await asyncio.to_thread(language_warning, passages, models):
        stage.failed(InputError(warning), fallback="the order that these models give")
    try:
        _, relevance = await deps.selector.rank(case)
    except ModelError as error:
        stage.failed(error, fallback="the order of hybrid search, without refusal")
        await deps.selector.rank_without_reranker(case)
        return Assessment()
    passages = stored_passages(case)
    calibration = deps.selector.calibration_of(relevance)
    if calibration is None and (deps.model is None or context.generator == "local"):
        _report_missing_calibration(deps, stage)
    if calibration is None or passages is None:
        return Assessment()
    query = await deps.encoder.encode_query(case.query)
    probability = calibration.answers.probability(answer_inputs(case, relevance, passages, query))
    refused = probability < calibration.answers.threshold
    return Assessment(
        probability=round(probability, 4),
        refusal=_refusal(case, probability) if refused else "",
        unsure=not refused and probability < calibration.sure,
    )


def _report_missing_calibration(deps: Resources, stage: Stage) -> None:
    try:
        find_calibration(deps.reranker.version, deps.encoder.version, deps.settings.calibration)
    except ConfigError as error:
        stage.failed(error, fallback="every question is answered, with three sentences")


def _refusal(case: Case, probability: float) -> str:
    absent = absent_terms(case)
    missing = f" No passage mentions {', '.join(absent)}." if absent else ""
    return f"No passage seems to answer the question (probability {probability:.0%}).{missing}"
