"""review: a person reads the plan with its passages and sends back another one, before the answer is written."""

from typing import Annotated, Any, cast

from langgraph.config import get_config
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BeforeValidator, WithJsonSchema

from discorag.generation.plan_text import missing_references
from discorag.schema.discourse import Plan
from discorag.schema.errors import ConfigError, InputError
from nodes.context import AnswerContext, answer_context
from nodes.inputs import check_plan, load_inputs
from nodes.state import AnswerState, Json

_CHECKPOINTER = "__pregel_checkpointer"  # LangGraph's key in a run's config


async def review(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Stop, and continue with the plan that comes back.

    The interrupt shows ``plan`` and ``passages``, and ``statements`` if there are any; it is resumed with the plan as
    text, or as ``{"plan": text}``.

    Raises:
        InputError: What came back is not a plan, or names passages or statements that are not there. The run can be
            resumed again.
    """
    context = await answer_context(state, runtime)
    inputs, plan = await load_inputs(state, context), state.get("plan") or ""

    def checked(sent: object) -> str:
        edited = _plan_in(sent)
        for message in missing_references(Plan(paragraph=edited), inputs).values():
            raise InputError(message, hint=f"Cite passages 1 to {len(inputs.chunks)}, and resume again.")
        check_plan(edited, state)
        return edited

    # LangGraph forgets a value that this refuses, so that the interrupt can be answered again.
    form: Any = Annotated[str, BeforeValidator(checked), WithJsonSchema(_form(plan))]
    shown: Json = {"plan": plan, "passages": state.get("passages", [])}
    if statements := state.get("statements"):
        shown["statements"] = statements
    return {"plan": interrupt(shown, response_schema=form)}


def check_review(context: AnswerContext) -> None:
    """Raises `ConfigError` if the run is to stop for a review, and nothing would keep it."""
    if context.review and not get_config().get("configurable", {}).get(_CHECKPOINTER):
        raise ConfigError(
            "review=True stops the run before 'generate', but the graph has no checkpointer to resume it from.",
            hint="Use build_answer_graph(checkpointer=InMemorySaver()) and a config with a thread_id.",
        )


def _form(plan: str) -> Json:
    """The JSON schema of what a person sends back."""
    return {"type": "object", "properties": {"plan": {"type": "string", "default": plan}}, "required": ["plan"]}


def _plan_in(sent: object) -> str:
    plan: Any = cast("Json", sent).get("plan") if isinstance(sent, dict) else sent
    if not isinstance(plan, str) or not plan.strip():
        raise InputError(
            f"A review is resumed with a plan, not with {sent!r:.80}.",
            hint='Resume with the text of the plan, or with {"plan": "..."}; send the plan back as it is to accept it.',
        )
    return plan
