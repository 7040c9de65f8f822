"""correct: the sentences in which the check found a problem are written again, in one more call."""

from langgraph.runtime import Runtime

from discorag.answering.correct import correct_sentences, is_whole, problems_in
from discorag.schema.answer import Answer
from discorag.schema.errors import ModelError
from nodes.answer.verify import check_answer
from nodes.context import AnswerContext, answer_context
from nodes.inputs import collected_in, load_inputs
from nodes.stage import Stage, ledger_of
from nodes.state import AnswerState, Json


async def correct(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Let the language model correct its sentences, and check the answer again.

    The corrected answer is used if it has fewer problems and all sentences that had none. Otherwise, or if the model
    fails, the answer stays as it was.
    """
    context, stage = await answer_context(state, runtime), Stage("correct")
    inputs, reader = await load_inputs(state, context), context.reader(await context.open_backends())
    checked, failures = Answer.model_validate(state.get("answer")), ledger_of(state).failures
    draft = state.get("draft", "")
    problems = problems_in(checked, draft, failures)
    try:
        outcome = await correct_sentences(inputs, collected_in(state), reader, draft, problems)
    except ModelError as error:
        stage.failed(error, fallback="the answer as it was checked")
        answer = stage.with_notes(checked, state)
        ledger = stage.done(engine="llm", model=reader.model.name)
        return {"answer": answer.model_dump(mode="json"), "to_correct": False, "ledger": ledger}
    answer = await check_answer(outcome.value, inputs, context, stage)
    left = len(problems_in(answer, outcome.value, failures))
    is_kept = left < len(problems) and is_whole(answer, checked, problems) and not stage.failures
    if is_kept:
        stage.replace_tokens(outcome.value)
    stage.counts |= {"problems": len(problems), "corrected": is_kept * (len(problems) - left)}
    ledger = stage.done(engine="llm", model=reader.model.name, outcome=outcome, preview=outcome.value)
    kept = stage.with_notes(answer if is_kept else checked, state)
    return {
        "draft": outcome.value if is_kept else draft,
        "answer": kept.model_dump(mode="json"),
        "to_correct": False,
        "ledger": ledger,
    }
