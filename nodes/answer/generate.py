"""generate: the draft answer, streamed as it is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from langgraph.runtime import Runtime

from discorag.answer.planning import missing
from discorag.answer.realisation import Extractor
from discorag.claims.units import units_of
from discorag.models.protocol import Encoder
from discorag.prompted.as_printed import PaperEngine
from discorag.prompted.engine import LlmEngine
from discorag.text.citations import steps, without_copied
from discorag.types.case import Case, Outcome
from discorag.types.errors import ConfigError, InputError, ModelError
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def generate(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Write the draft; when the llm engine fails, an extractive draft stands in and the result says so.

    Raises:
        ConfigError: The llm engine or ``refine`` was asked for and no endpoint is configured.
    """
    context = answer_context(runtime)
    stage = Stage("generate")
    case = await case_of(state, context)
    llm = await context.llm(context.generator)
    if context.refine and llm is None:
        raise ConfigError(
            f"refine is {context.refine}, but no language model is configured.",
            hint="Set DISCO_RAG_LLM__BASE_URL (and DISCO_RAG_LLM__MODEL), or leave refine at 0.",
        )
    write = partial(_streamed, llm, context=context, stage=stage) if llm else None
    return await drafted(case, context, stage, write, llm.model.name if llm else "")


async def drafted(
    case: Case,
    context: AnswerContext,
    stage: Stage,
    write: Callable[[Case], Awaitable[Outcome[str]]] | None,
    model: str,
) -> Json:
    """The draft that ``write`` makes with ``model``, or an extractive one if there is none or it fails."""
    deps = await context.deps()
    local, follows = Extractor(deps.selector), await _follows(case, deps.encoder, stage)
    try:
        outcome = await (write or local.answer)(case)
    except ModelError as error:
        stage.failed(error, fallback="local")
        stage.emit({"stage": "generate", "event": "restart"})
        outcome, write = await local.answer(case), None
    if write is None and not follows:
        cause = InputError("The plan cites no passage.", hint="Name the passages that a step uses, as [2] or [2.3].")
        stage.failed(cause, fallback="sentences by relevance")
    if write is None:
        stage.emit({"stage": "generate", "event": "token", "token": outcome.value})
    ledger = stage.done(
        engine="llm" if write else "local", model=model if write else "", outcome=outcome, preview=outcome.value
    )
    draft = without_copied(outcome.value, [c.text for c in case.chunks]) if write else outcome.value
    return {"draft": draft, "written_by": model if write else "", "ledger": ledger}


async def _follows(case: Case, encoder: Encoder, stage: Stage) -> bool:
    """Whether there is no plan, or one that cites what there is. What it cites and there is not is told."""
    if case.plan is None:
        return True
    try:
        table = await units_of(case, encoder)
    except ModelError:  # whoever needs the units next says so
        return True
    absent = missing(case.plan, case, table)
    for said in absent.values():
        stage.failed(InputError(said), fallback="the rest of the plan", of="plan")
    return any(r not in absent for step in steps(case.plan) for r in step.references)


def _replaced(stage: Stage, text: str) -> None:
    """Tell whoever reads along that what was streamed is void."""
    stage.emit({"stage": "generate", "event": "restart"})
    stage.emit({"stage": "generate", "event": "token", "token": text})


async def _streamed(llm: LlmEngine | PaperEngine, case: Case, *, context: AnswerContext, stage: Stage) -> Outcome[str]:
    pieces: list[str] = []
    async for piece in llm.answer(case, structured=context.structured):
        if isinstance(piece, str):
            pieces.append(piece)
            stage.emit({"stage": "generate", "event": "token", "token": piece})
        else:
            if piece.value != "".join(pieces):  # repaired, or tidied
                _replaced(stage, piece.value)
            return piece
    raise ModelError("The stream ended without a reply.", hint="Check the endpoint's log.")
