"""The graph under construction: its nodes can be called synchronously and asynchronously, and be replaced."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from collections.abc import Mapping
from typing import Any, Self, cast

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from discorag.schema.errors import UnknownNameError
from nodes.sync import Node, two_way

Graph = CompiledStateGraph[Any, Any, Any, Any]


class Steps(StateGraph[Any, Any, Any, Any]):
    """LangGraph's builder, for nodes that are coroutine functions.

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
        return super().compile(*arguments, **options)
