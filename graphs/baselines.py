"""The baselines that Disco-RAG is compared with (its tables 2, 4 and 9), as graphs of the same state and switches.

Standard RAG is no graph of its own: it is the answer graph with trees, graph and plan switched off.
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from graphs.answer import Graph
from nodes.answer import baselines
from nodes.answer.retrieve import retrieve, retrieve_all
from nodes.answer.verify import verify
from nodes.context import AnswerContext
from nodes.state import AnswerInput, AnswerOutput, AnswerState, Json

Node = Callable[[AnswerState, Runtime[AnswerContext]], Awaitable[Json]]


def _chain(name: str, **nodes: Node) -> Graph:
    """A graph of these steps one after the other, and `verify` at the end."""
    steps: Any = StateGraph(
        AnswerState, context_schema=AnswerContext, input_schema=AnswerInput, output_schema=AnswerOutput
    )
    for step, node in {**nodes, "verify": verify}.items():
        steps.add_node(step, node)
    for before, after in pairwise([START, *nodes, "verify", END]):
        steps.add_edge(before, after)
    return steps.compile(name=name)


full_context = _chain("full-context", retrieve=retrieve_all, generate=baselines.full_context)
"""Every document, without retrieval (fig. 13)."""

retrieve_and_plan = _chain("retrieve-and-plan", retrieve=retrieve, generate=baselines.planned)
"""A free-form plan and the answer in one call over the chunks (fig. 15)."""

plan_and_retrieve = _chain(
    "plan-and-retrieve", plan=baselines.hint, retrieve=baselines.gather, generate=baselines.after_hint
)
"""A free-form plan and search queries from the question, then the answer from what they bring (fig. 16)."""

markers = _chain("markers", retrieve=retrieve, relate=baselines.mark, generate=baselines.marked)
"""Discourse markers between chunks in the place of relations (fig. 17, appendix F)."""

BASELINES = {g.name: g for g in (full_context, retrieve_and_plan, plan_and_retrieve, markers)}
