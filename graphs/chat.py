"""The chat graph: the answer graph with a ``messages`` key, for Agent Chat UI and LangGraph's chat clients."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from typing import Any

from langgraph.graph import END, START, StateGraph

from graphs import answer
from graphs.answer import Graph
from nodes.chat import ChatInput, ChatState, listen, reply
from nodes.context import AnswerContext


def build(**compile_options: Any) -> Graph:
    """The compiled graph. The answer graph is one of its nodes, and stores its checkpoints in the thread."""
    graph: Any = StateGraph(ChatState, context_schema=AnswerContext, input_schema=ChatInput)
    graph.add_node("listen", listen)
    graph.add_node("answer", answer.graph)
    graph.add_node("reply", reply)
    for before, after in ((START, "listen"), ("listen", "answer"), ("answer", "reply"), ("reply", END)):
        graph.add_edge(before, after)
    return graph.compile(name="chat", **compile_options)


graph = build()
