"""assess: whether the evidence can answer the question, before anything is made of it."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState

Next = Literal["relate", "abstain"]
NONE_LEFT = "No evidence is left: what was found was deleted, or taken away."


async def assess(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Next]:
    """Go on where there is evidence, else abstain."""
    context, stage = answer_context(runtime), Stage("assess")
    case = await case_of(state, context)
    goto: Next = "relate" if case.chunks or context.abstain == "never" else "abstain"
    because = "" if goto == "relate" else NONE_LEFT
    stage.goes(goto, because or f"there are {len(case.chunks)} chunks of evidence")
    return Command(goto=goto, update={"because": because, "ledger": stage.done(engine="local")})
