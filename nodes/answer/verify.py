"""verify: every sentence of the draft traced to its sources, disagreements reported."""

from __future__ import annotations

from langgraph.runtime import Runtime

from discorag.types.errors import ModelError
from discorag.types.ledger import Ledger, StageRecord
from discorag.verification.draft import unverified
from discorag.verification.verifier import VERIFIERS
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def verify(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Turn the draft into a verified answer."""
    context = answer_context(runtime)
    stage = Stage("verify")
    case, deps = await case_of(state, context), await context.deps()
    draft = state.get("draft", "")
    try:
        answer = await VERIFIERS[context.verifier](deps).verify(case, draft)
    except ModelError as error:
        stage.failed(error, fallback="none: every sentence is marked unsupported")
        answer = unverified(case, draft, "Verification failed; see the ledger.")
    told = [*map(StageRecord.model_validate, state.get("ledger", [])), stage.record(engine=context.verifier)]
    answer = answer.model_copy(update={"notes": Ledger(stages=tuple(told)).notes})
    preview = f"{len(answer.sentences) - len(answer.unsupported)} of {len(answer.sentences)} sentences supported"
    return {"answer": answer.model_dump(mode="json"), "ledger": stage.done(engine=context.verifier, preview=preview)}
