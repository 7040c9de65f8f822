"""LangGraph's builder and graph, with what our nodes and our users need beyond them."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateUpdate

from discorag.schema.errors import UnknownNameError
from graphs.edits import check_edit
from graphs.sync import Node, two_way

Graph = CompiledStateGraph[Any, Any, Any, Any]
Edits = Sequence[Sequence[StateUpdate]]


class CheckedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph that refuses an edit of its state that LangGraph would drop, or that its nodes cannot read."""

    def bulk_update_state(self, config: RunnableConfig, supersteps: Edits) -> RunnableConfig:
        """Edit the state, as `update_state` does. Raises `InputError`."""
        self._check(supersteps, self.get_state(config).values if _has_plan(supersteps) else {})
        return super().bulk_update_state(config, supersteps)

    async def abulk_update_state(self, config: RunnableConfig, supersteps: Edits) -> RunnableConfig:
        """Edit the state, as `aupdate_state` does. Raises `InputError`."""
        self._check(supersteps, (await self.aget_state(config)).values if _has_plan(supersteps) else {})
        return await super().abulk_update_state(config, supersteps)

    def _check(self, supersteps: Edits, state: dict[str, Any]) -> None:
        known, statements = [*cast("dict[str, Any]", self.builder.channels)], state.get("statements")
        for values, as_node in _updates(supersteps):
            check_edit(values, as_node, known=known, statements=statements)


def _updates(supersteps: Edits) -> Iterator[tuple[dict[str, Any], str | None]]:
    """The values of each update, and the node in whose name it is made."""
    for update in (update for step in supersteps for update in step if update.values):
        yield cast("dict[str, Any]", update.values), update.as_node


def _has_plan(supersteps: Edits) -> bool:
    """Whether a plan is edited, which has to fit the statements in the state."""
    return any(values.get("plan") for values, _ in _updates(supersteps))


class Steps(StateGraph[Any, Any, Any, Any]):
    """A graph under construction; its nodes are coroutine functions, and can be called synchronously all the same.

    Args:
        schemas: As for `StateGraph`.
        own: Nodes of the caller, by the name of the node that each replaces.
    """

    def __init__(self, *schemas: Any, own: Mapping[str, Node] | None = None, **named: Any) -> None:
        super().__init__(*schemas, **named)
        self._own = dict(own or {})

    def add_node(self, node: Any, action: Any = None, **options: Any) -> Self:
        """Add a node by name, or the caller's own in its place. Options are those of `StateGraph.add_node`."""
        return super().add_node(node, two_way(cast("Node", self._own.get(node, action))), **options)

    def compile(self, *arguments: Any, **options: Any) -> Graph:
        """The runnable graph. Raises `UnknownNameError` if an own node replaces none."""
        if unknown := self._own.keys() - self.nodes.keys():
            raise UnknownNameError(
                f"The graph {options.get('name', '')!r} has no node {min(unknown)!r} that could be replaced.",
                hint=f"Its nodes are {', '.join(self.nodes)}.",
            )
        graph = super().compile(*arguments, **options)
        graph.__class__ = CheckedGraph  # LangGraph's builder makes its own class only
        return graph
