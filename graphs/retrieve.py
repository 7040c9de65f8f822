"""The retrieval graph: the first part of the answer graph, up to the ranked evidence."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from langgraph.graph import END

from graphs.answer import add_retrieval, steps
from graphs.steps import Graph


def build() -> Graph:
    """The compiled graph; a run ends with ``hits`` and ``evidence`` in its state."""
    graph = steps()
    add_retrieval(graph, otherwise=END)
    graph.add_edge("rerank", END)
    return graph.compile(name="retrieve")


graph = build()
