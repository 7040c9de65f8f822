"""assess: whether the evidence can answer the question, before anything is made of it."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.answer.answerable import evidence_features, model_for, passages_of
from discorag.types.case import Case
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState

Next = Literal["relate", "abstain"]
NONE_LEFT = "No evidence is left: what was found was deleted, or taken away."


async def assess(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Next]:
    """Go on where there is evidence that seems to answer the question, else abstain.

    The papers' presets judge by their own means, or not at all.
    """
    context, stage = answer_context(runtime), Stage("assess")
    case = await case_of(state, context)
    probability, because = await _judged(case, context) if case.chunks else (None, NONE_LEFT)
    goto: Next = "abstain" if because and context.abstain == "auto" else "relate"
    told = "" if probability is None else f"probability {probability:.2f}"
    stage.goes(goto, because if goto == "abstain" else told or f"there are {len(case.chunks)} chunks of evidence")
    because = because if goto == "abstain" else ""
    update = {"answerable": probability, "because": because, "ledger": stage.done(engine="local", preview=told)}
    return Command(goto=goto, update=update)


async def _judged(case: Case, context: AnswerContext) -> tuple[float | None, str]:
    """The probability that the evidence answers the question, and what speaks against answering."""
    deps = await context.deps()
    model = model_for(deps.encoder, deps.settings.answerable)
    passages = passages_of(case)
    if model is None or passages is None or context.preset != "ours":
        return None, ""
    row = evidence_features(case, passages, await deps.encoder.encode_query(case.query))
    probability, least = round(float(model.probabilities(row[None])[0]), 4), model.least(row)
    if probability >= least:
        return probability, ""
    return probability, (
        f"What was found does not seem to answer the question (probability {probability:.0%}; under {least:.0%} "
        "nothing is said)."
    )
