"""refine: the language model checks its answer against the passages and rewrites it (HTSIR)."""

from langgraph.runtime import Runtime

from discorag.generation.draft import replace_tokens
from discorag.generation.narrowing import shown_text
from discorag.generation.prompted.rewriting import refine_answer
from discorag.schema.answer import Outcome
from discorag.schema.errors import ModelError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def refine(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """One round; a reply that changes nothing, or a failure, is the last one, and leaves the draft as it was."""
    context, stage = await answer_context(runtime), Stage("refine")
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
        return {"rounds": context.refine, "ledger": stage.done(engine="llm", model=model.name)}
    outcome = Outcome(value=better.value, usage=better.usage, prompt_hash=better.prompt_hash)
    same = better.value == draft.strip()
    if not same:
        replace_tokens(stage, better.value)
    ledger = stage.done(engine="llm", model=model.name, outcome=outcome, preview=better.value)
    return {"draft": better.value, "rounds": context.refine if same else state.get("rounds", 0) + 1, "ledger": ledger}
