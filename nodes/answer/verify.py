"""verify: every sentence of the draft traced to its sources, disagreements reported; and whether that will do."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.types.answer import Answer
from discorag.types.errors import ModelError
from discorag.verification.draft import unverified
from discorag.verification.sources import traced
from discorag.verification.verifier import VERIFIERS, Metered
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState

Next = Literal["refine", "abstain", "__end__"]
UNSUPPORTED = "No sentence of the answer that was written is supported by the documents."


async def verify(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Next]:
    """Turn the draft into a verified answer; refine it, abstain, or end."""
    context, stage = answer_context(runtime), Stage("verify")
    case, deps = await case_of(state, context), await context.deps()
    draft, failed = state.get("draft", ""), False
    verifier = VERIFIERS[context.verifier](deps)
    try:
        answer = await traced(verifier, case, draft, deps.store, await context.scope())
    except ModelError as error:
        stage.failed(error, fallback="none: every sentence is marked unsupported")
        answer, failed = unverified(case, draft, "Verification failed; see the ledger."), True
    if isinstance(verifier, Metered):
        stage.usage, stage.prompt_hash = stage.usage + verifier.usage, verifier.prompt_hash
    answer = stage.noted(answer, state)
    goto, because = _next(answer, state, context, failed=failed)
    stage.record_route(goto, because)
    preview = f"{len(answer.sentences) - len(answer.unsupported)} of {len(answer.sentences)} sentences supported"
    ledger = stage.done(engine=context.verifier, preview=preview)
    told = {"because": because} if goto == "abstain" else {}
    return Command(goto=goto, update={"answer": answer.model_dump(mode="json"), **told, "ledger": ledger})


def _next(answer: Answer, state: AnswerState, context: AnswerContext, *, failed: bool) -> tuple[Next, str]:
    """Where to go, and why."""
    rounds = state.get("rounds", 0)
    if rounds < context.refine and state.get("written_by"):
        return "refine", f"round {rounds + 1} of {context.refine}"
    if context.abstain == "auto" and not failed and len(answer.unsupported) == len(answer.sentences):
        return "abstain", UNSUPPORTED
    return "__end__", "the answer is verified"
