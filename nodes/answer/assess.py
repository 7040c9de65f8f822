"""assess: whether the evidence can answer the question, before anything is made of it."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.answer.answerable import judged, model_for, passages_of
from discorag.answer.words import asked
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
    """As `judged`, where there is something to judge by: of a question without content words there is not."""
    deps = await context.deps()
    model = model_for(deps.encoder, deps.settings.answerable)
    passages = passages_of(case)
    if model is None or passages is None or context.preset != "ours" or not asked(case.query):
        return None, ""
    return judged(model, case, passages, await deps.encoder.encode_query(case.query))
