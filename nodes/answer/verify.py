"""verify and refine: compare a draft with its sources, report disagreements, and rewrite what a model wrote."""

from collections import Counter
from typing import Literal

from langgraph.runtime import Runtime

from discorag.answering.correct import problems_in
from discorag.generation.narrowing import shown_text
from discorag.generation.prompted.prose import declined
from discorag.generation.prompted.rewriting import refine_answer
from discorag.schema.answer import Answer, AnswerInputs, Outcome, Support
from discorag.schema.errors import InvalidOutputError, ModelError
from discorag.schema.values import amount
from discorag.verification.extracts import with_extracted_statements
from discorag.verification.tracing import check_draft, trace_draft
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage, ledger_of
from nodes.state import AnswerState, Json


async def verify(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Turn the draft into a verified answer, or say in ``because`` why there is none.

    A language model's reply that the passages do not answer is an abstention. If a judge finds that the sources support
    nothing of what it wrote, the run starts again without it. Raises as `nodes.answer.generate.generate`.
    """
    return await verify_draft(state, runtime, starts_again=True)


async def verify_draft(state: AnswerState, runtime: Runtime[AnswerContext], *, starts_again: bool) -> Json:
    """`verify`; a run that cannot start again abstains where the sources support nothing."""
    context, stage = await answer_context(state, runtime), Stage("verify")
    draft, model, may_abstain = state.get("draft", ""), state.get("written_by", ""), context.abstain == "auto"
    if may_abstain and model and (because := declined(draft)):
        stage.record_route("abstain", because)
        return {"because": because, "ledger": stage.done(engine="off", preview=because)}
    inputs = await load_inputs(state, context)
    answer = await check_answer(draft, inputs, context, stage)
    if not model:
        answer = with_extracted_statements(answer, inputs)
    step, because = _next_step(answer, state.get("rounds", 0), may_abstain=may_abstain)
    if step == "abstain" and model and starts_again:
        error = InvalidOutputError(because)
        return stage.start_again(error, strict=context.strict, engine=context.verifier, of="generate")
    answer = stage.with_notes(answer, state)
    may_correct = context.correct and model and step == "end"
    problems = problems_in(answer, draft, ledger_of(state).failures) if may_correct else []
    if problems:
        step, because = "correct", f"{amount(len(problems), 'sentences')} with a problem"
    stage.record_route(step, because)
    counts = Counter(sentence.support for sentence in answer.sentences)
    preview = ", ".join(f"{counts[s]} {s}" for s in Support if counts[s]) or "no sentences"
    ledger = stage.done(engine=context.verifier, preview=preview)
    reason = {"because": because} if step == "abstain" else {}
    return {"answer": answer.model_dump(mode="json"), "to_correct": bool(problems), **reason, "ledger": ledger}


def _next_step(answer: Answer, rounds: int, *, may_abstain: bool) -> tuple[Literal["refine", "abstain", "end"], str]:
    """Where an answer goes after verification, and why.

    ``rounds`` are the rounds of refinement that are left. ``may_abstain``: whether to withhold an answer if a judge
    finds none of its sentences supported. Sentences to check are not withheld: their value may stand elsewhere, and the
    reader sees which it is.
    """
    if rounds:
        return "refine", f"{amount(rounds, 'rounds')} left"
    if may_abstain and all(s.support is Support.NOT_SUPPORTED for s in answer.sentences):
        return "abstain", "The documents support no sentence of the answer that was written."
    return "end", "the answer is verified"


async def check_answer(draft: str, inputs: AnswerInputs, context: AnswerContext, stage: Stage) -> Answer:
    """The draft's sentences as the verifier finds them; if a model of it fails, as a check without models does."""
    backends = await context.open_backends()
    verifier = backends.verifier(context.verifier)
    try:
        outcome = await trace_draft(verifier, inputs, draft, backends.store, await context.scope())
    except ModelError as error:
        stage.failed(error, fallback="the check of figures, dates, names and quotations alone")
        outcome = check_draft(inputs, draft)
    stage.usage, stage.prompt_hash = stage.usage + outcome.usage, outcome.prompt_hash
    stage.counts |= outcome.counts
    return outcome.value


async def refine(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """One round; a reply that changes nothing, or a failure, is the last one, and leaves the draft as it was."""
    context, stage = await answer_context(state, runtime), Stage("refine")
    inputs, backends, draft = await load_inputs(state, context), await context.open_backends(), state.get("draft", "")
    model = backends.require_model()
    try:
        better = await refine_answer(
            model,
            backends.template("refine-answer"),
            question="\n\n".join(filter(None, (inputs.query, inputs.instruction))),
            answer=draft,
            passages=[shown_text(chunk) for chunk in inputs.chunks],
            max_tokens=context.sampling.for_answer(len(inputs.chunks)),
            temperature=context.temperature,
        )
    except ModelError as error:
        stage.failed(error, fallback="the answer as it was before this round")
        return {"rounds": 0, "ledger": stage.done(engine="llm", model=model.name)}
    outcome = Outcome(value=better.value, usage=better.usage, prompt_hash=better.prompt_hash)
    same = better.value == draft.strip()
    if not same:
        stage.replace_tokens(better.value)
    ledger = stage.done(engine="llm", model=model.name, outcome=outcome, preview=better.value)
    return {"draft": better.value, "rounds": 0 if same else state.get("rounds", 0) - 1, "ledger": ledger}
