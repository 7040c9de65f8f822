"""Checks edits of a stopped run's state, which LangGraph takes as they are."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from discorag.schema.discourse import RhetoricalGraph, RstTree
from discorag.schema.errors import InputError


class _Hit(TypedDict):
    chunk_id: str
    score: float


_SHAPES: dict[str, TypeAdapter[Any]] = {
    "hits": TypeAdapter(list[_Hit]),
    "evidence": TypeAdapter(dict[str, list[Annotated[list[int], Field(min_length=2, max_length=2)]]]),
    "trees": TypeAdapter(dict[str, RstTree]),
    "graph": TypeAdapter(RhetoricalGraph | None),
    "plan": TypeAdapter(str | None),
    "draft": TypeAdapter(str),
}
"""What people edit, in more detail than the state's types say it."""


def check_edit(values: Mapping[str, Any], *, known: Collection[str]) -> None:
    """Check an edit of the state of a graph whose keys are ``known``.

    Raises:
        InputError: The state has no such key, or the value is not what the nodes read under it.
    """
    if unknown := values.keys() - known:
        raise InputError(f"The state has no key {min(unknown)!r}.", hint=f"Its keys are {', '.join(known)}.")
    for key in values.keys() & _SHAPES.keys():
        try:
            _SHAPES[key].validate_python(values[key])
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join([key, *map(str, first["loc"])])
            raise InputError(
                f"The edit of {where} cannot be used: {first['msg']}.",
                hint="Change a copy of what get_state(config).values has under this key.",
            ) from error
