"""The options that a caller gave: as a context, through a parent graph, or with the question of a run that stopped."""

import json
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from discorag.schema.errors import ConfigError, InputError
from nodes.state import AnswerInput, AnswerState, Json

C = TypeVar("C", bound=BaseModel)
FORMAT = 2
"""Format of a run's state; raise it when the nodes can no longer read the state that an older release stored."""


def as_options(kind: type[C], context: object) -> C | None:
    """The context of a run as options of this kind.

    A graph that is a node of another one gets that one's context: a dictionary of our fields is read, everything else
    belongs to the other graph, and the result is None. Raises `InputError` for fields that cannot be used.
    """
    if isinstance(context, kind):
        return context
    fields = cast("dict[str, Any]", context) if isinstance(context, dict) else {}
    if not fields.keys() & kind.model_fields.keys():
        return None
    return kind(**fields) if fields.get("backends") else _shared(kind, json.dumps(fields, sort_keys=True))


@lru_cache(maxsize=64)
def _shared(kind: type[C], fields: str) -> C:
    """The same object for all nodes of a run: it remembers the evidence that was read."""
    return kind(**json.loads(fields))


def input_of(state: AnswerState) -> AnswerState:
    """The input of a new question, without what the last one left in the thread."""
    return cast("AnswerState", {key: state[key] for key in AnswerInput.__annotations__ if key in state})


def started_with(options: BaseModel) -> Json:
    """What a run's state says of its start: its format, the options that were given, and whether backends were."""
    return {
        "format": FORMAT,
        "options": options.model_dump(mode="json", exclude_unset=True),
        "backends": getattr(options, "backends", None) is not None,
    }


def is_reviewed(state: AnswerState) -> bool:
    """Whether the question was asked with the option ``review``."""
    start = state.get("started_with") or {}
    return bool(start.get("options", {}).get("review"))


def resumed_options(kind: type[C], state: AnswerState) -> C | None:
    """The options with which the run started, for a caller who resumes it without a context.

    Raises:
        ConfigError: They held opened backends, which a checkpoint cannot.
        InputError: Another release of disco-rag stored the state.
    """
    start = state.get("started_with")
    if start is None:
        return None
    if start["backends"]:
        raise ConfigError(
            "This run was started with opened backends in its context, and it is resumed without a context.",
            hint="Pass the context again: a checkpoint keeps options, but no open store or model.",
        )
    return _shared(kind, json.dumps(start["options"], sort_keys=True))


def check_format(state: AnswerState) -> None:
    """Raises `InputError` if another release of disco-rag stored the state of this run."""
    start = state.get("started_with")
    was_reset = "queries" in state  # `nodes.state.fresh_answer` writes this key and ``started_with`` together
    if (start or {}).get("format", 0 if was_reset else FORMAT) != FORMAT:
        raise InputError(
            "Another release of disco-rag stopped this run, and this one cannot continue it.",
            hint="Ask the question again, also in the same thread; instruction and filters stay.",
        )
