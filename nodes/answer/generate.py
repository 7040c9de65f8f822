"""generate: the draft answer, streamed as it is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from langgraph.runtime import Runtime

from discorag.generation.planning import missing
from discorag.generation.prompted.as_printed import PaperEngine
from discorag.generation.prompted.engine import LlmEngine
from discorag.generation.realisation import Extractor
from discorag.ingest.segment.sentence_table import sentences_of
from discorag.models.protocol import Encoder
from discorag.schema.answer_inputs import AnswerInputs, Outcome
from discorag.schema.errors import ConfigError, InputError, ModelError
from discorag.text.citations import steps, without_copied
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def generate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Write the draft; when the llm engine fails, an extractive draft stands in and the result says so.

    Raises:
        ConfigError: The llm engine or ``refine`` was asked for and no endpoint is configured.
    """
    context = answer_context(runtime)
    stage = Stage("generate")
    inputs = await load_inputs(state, context)
    llm = await context.llm(context.generator)
    if context.refine and llm is None:
        raise ConfigError(
            f"refine is {context.refine}, but no language model is configured.",
            hint="Set DISCO_RAG_LLM__BASE_URL (and DISCO_RAG_LLM__MODEL), or leave refine at 0.",
        )
    write = partial(_streamed, llm, context=context, stage=stage) if llm else None
    return await drafted(inputs, context, stage, write, llm.model.name if llm else "")


async def drafted(
    inputs: AnswerInputs,
    context: AnswerContext,
    stage: Stage,
    write: Callable[[AnswerInputs], Awaitable[Outcome[str]]] | None,
    model: str,
) -> Json:
    """The draft that ``write`` makes with ``model``, or an extractive one if there is none or it fails."""
    backends = await context.open_backends()
    local, follows = Extractor(backends.selector), await _follows(inputs, backends.encoder, stage)
    try:
        outcome = await (write or local.answer)(inputs)
    except ModelError as error:
        stage.failed(error, fallback="local")
        stage.emit({"stage": "generate", "event": "restart"})
        outcome, write = await local.answer(inputs), None
    if write is None and not follows:
        cause = InputError("The plan cites no passage.", hint="Name the passages that a step uses, as [2] or [2.3].")
        stage.failed(cause, fallback="sentences by relevance")
    if write is None:
        stage.emit({"stage": "generate", "event": "token", "token": outcome.value})
    ledger = stage.done(
        engine="llm" if write else "local", model=model if write else "", outcome=outcome, preview=outcome.value
    )
    draft = without_copied(outcome.value, [c.text for c in inputs.chunks]) if write else outcome.value
    return {"draft": draft, "written_by": model if write else "", "ledger": ledger}


async def _follows(inputs: AnswerInputs, encoder: Encoder, stage: Stage) -> bool:
    """Whether there is no plan, or one that cites what there is. What it cites and there is not is told."""
    if inputs.plan is None:
        return True
    try:
        table = await sentences_of(inputs, encoder)
    except ModelError:  # whoever needs the units next says so
        return True
    absent = missing(inputs.plan, inputs, table)
    for said in absent.values():
        stage.failed(InputError(said), fallback="the rest of the plan", of="plan")
    return any(r not in absent for step in steps(inputs.plan) for r in step.references)


def _replaced(stage: Stage, text: str) -> None:
    """Tell whoever reads along that what was streamed is void."""
    stage.emit({"stage": "generate", "event": "restart"})
    stage.emit({"stage": "generate", "event": "token", "token": text})


async def _streamed(
    llm: LlmEngine | PaperEngine, inputs: AnswerInputs, *, context: AnswerContext, stage: Stage
) -> Outcome[str]:
    pieces: list[str] = []
    async for piece in llm.answer(inputs, structured=context.structured):
        if isinstance(piece, str):
            pieces.append(piece)
            stage.emit({"stage": "generate", "event": "token", "token": piece})
        else:
            if piece.value != "".join(pieces):  # repaired, or tidied
                _replaced(stage, piece.value)
            return piece
    raise ModelError("The stream ended without a reply.", hint="Check the endpoint's log.")
