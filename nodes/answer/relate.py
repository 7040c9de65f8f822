"""relate: the rhetorical graph over all retrieved chunks."""

from langgraph.runtime import Runtime

from discorag.discourse.relate import relate_chunks
from discorag.schema.errors import ModelError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def relate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Infer the graph; when a model fails, the local engine's graph is used instead and the result says so."""
    context = await answer_context(runtime)
    stage = Stage("relate")
    if not context.use_graph:
        return {"graph": None, "ledger": stage.done(engine="off")}
    inputs, backends = await load_inputs(state, context), await context.open_backends()
    llm, update = await context.llm(context.relater, "relate"), Json()
    try:
        outcome = await (llm.relate(inputs) if llm else relate_chunks(inputs, backends.encoder))
    except ModelError as error:
        update = stage.failed_model(error, fallback="local")
        llm = None
        outcome = await relate_chunks(inputs, backends.encoder)
    model = llm.model.name if llm else ""
    preview = ", ".join(
        f"{inputs.number(e.source)} {e.relation} {inputs.number(e.target)}" for e in outcome.value.edges
    )
    ledger = stage.done(engine="llm" if llm else "local", model=model, outcome=outcome, preview=preview)
    turns = {"graph": outcome.text} if outcome.text else {}
    return {"graph": outcome.value.model_dump(mode="json"), "turns": turns, "ledger": ledger, **update}
