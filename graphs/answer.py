"""The answer graph: retrieve > parse > relate > plan > generate > verify (Disco-RAG section 3)."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from nodes.answer.generate import generate
from nodes.answer.parse import parse
from nodes.answer.plan import plan
from nodes.answer.relate import relate
from nodes.answer.retrieve import retrieve
from nodes.answer.verify import verify
from nodes.context import AnswerContext
from nodes.state import AnswerInput, AnswerOutput, AnswerState

Graph = CompiledStateGraph[Any, Any, Any, Any]


def build(**compile_options: Any) -> Graph:
    """The compiled graph. Options go to ``compile``: a checkpointer, ``interrupt_before``, ..."""
    steps = StateGraph(AnswerState, context_schema=AnswerContext, input_schema=AnswerInput, output_schema=AnswerOutput)
    steps.add_node("retrieve", retrieve)
    steps.add_node("parse", parse)
    steps.add_node("relate", relate)
    steps.add_node("plan", plan)
    steps.add_node("generate", generate)
    steps.add_node("verify", verify)
    order = [START, "retrieve", "parse", "relate", "plan", "generate", "verify", END]
    for before, after in pairwise(order):
        steps.add_edge(before, after)
    return steps.compile(name="answer", **compile_options)


graph = build()
