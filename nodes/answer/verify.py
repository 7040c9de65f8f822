"""verify: compare every sentence of the draft with its sources, report disagreements, and decide where to go."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from discorag.schema.answer import Answer, Support
from discorag.schema.errors import ModelError
from discorag.verification.draft import unverified
from discorag.verification.sources import traced
from discorag.verification.verifier import VERIFIERS, Metered
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState

Next = Literal["refine", "abstain", "__end__"]
UNSUPPORTED = "The documents support no sentence of the answer that was written."


async def verify(state: AnswerState, runtime: Runtime[AnswerContext]) -> Command[Next]:
    """Turn the draft into a verified answer; refine it, abstain, or end."""
    context, stage = answer_context(runtime), Stage("verify")
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    draft = state.get("draft", "")
    verifier = VERIFIERS[context.verifier](backends)
    try:
        answer = await traced(verifier, inputs, draft, backends.store, await context.scope())
    except ModelError as error:
        stage.failed(error, fallback="none: every sentence is marked as not verified")
        answer = unverified(inputs, draft, "Verification failed; see the ledger.")
    if isinstance(verifier, Metered):
        stage.usage, stage.prompt_hash = stage.usage + verifier.usage, verifier.prompt_hash
    answer = stage.noted(answer, state)
    goto, because = _next(answer, state, context)
    stage.record_route(goto, because)
    counts = Counter(sentence.support for sentence in answer.sentences)
    preview = ", ".join(f"{counts[s]} {s}" for s in Support if counts[s]) or "no sentences"
    ledger = stage.done(engine=context.verifier, preview=preview)
    told = {"because": because} if goto == "abstain" else {}
    return Command(goto=goto, update={"answer": answer.model_dump(mode="json"), **told, "ledger": ledger})


def _next(answer: Answer, state: AnswerState, context: AnswerContext) -> tuple[Next, str]:
    """Where to go, and why. A sentence that is only not verified is shown, marked as such."""
    rounds = state.get("rounds", 0)
    if rounds < context.refine and state.get("written_by"):
        return "refine", f"round {rounds + 1} of {context.refine}"
    if context.abstain == "auto" and len(answer.unsupported) == len(answer.sentences):
        return "abstain", UNSUPPORTED
    return "__end__", "the answer is verified"
