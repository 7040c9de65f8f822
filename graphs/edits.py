"""Checks edits of a stopped run's state, which LangGraph takes as they are."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from discorag.schema.discourse import RhetoricalGraph, RstTree
from discorag.schema.errors import InputError
from discorag.schema.statements import StatementGraph
from nodes.inputs import check_plan
from nodes.state import Json


class _Hit(TypedDict):
    chunk_id: str
    score: float


_SHAPES: dict[str, TypeAdapter[Any]] = {
    "hits": TypeAdapter(list[_Hit]),
    "evidence": TypeAdapter(dict[str, list[Annotated[list[int], Field(min_length=2, max_length=2)]]]),
    "trees": TypeAdapter(dict[str, RstTree]),
    "statements": TypeAdapter(StatementGraph | None),
    "graph": TypeAdapter(RhetoricalGraph | None),
    "plan": TypeAdapter(str | None),
    "draft": TypeAdapter(str),
}
"""The keys that people edit, with types that are more exact than those of the state."""


_CHOOSE_HITS = frozenset({"retrieve_chunks", "retrieve_sentence_tree", "route_headings", "read_all", "rerank"})
"""Nodes after which the run asks whether there is any evidence."""


def check_edit(
    values: Mapping[str, Any], as_node: str | None, *, known: Collection[str], statements: Json | None = None
) -> None:
    """Check an edit in the name of a node.

    Args:
        values: The new values, by their keys in the state.
        as_node: The node in whose name they are set, if one is given.
        known: The keys of the graph's state.
        statements: The statements in the state, which a plan may name.

    Raises:
        InputError: The state has no such key, the value is not what the nodes read under it, a plan names a statement
            that does not exist, or no evidence is left for nodes that need some.
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
    if plan := values.get("plan"):
        check_plan(plan, {"query": "", "statements": values.get("statements", statements)})
    if values.get("hits") == [] and as_node not in _CHOOSE_HITS:
        raise InputError(
            "After this edit no evidence is left to plan and to write from.",
            hint='Make it in the name of the node that chooses the evidence: as_node="rerank"; the run then abstains.',
        )
