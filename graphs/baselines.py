"""The baselines that Disco-RAG is compared with (its tables 2, 4 and 9), as graphs of the same state and options.

Standard RAG has no graph of its own: it is the answer graph with trees, graph and plan switched off.
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from itertools import pairwise
from typing import Any, get_args

from langgraph.graph import START

from discorag.options import PRESETS, Preset
from graphs.answer import add_ending, add_prepare, add_read_all, add_retrieval, steps
from graphs.steps import Graph
from graphs.sync import Node
from nodes.answer import baselines
from nodes.answer.routes import after_evidence
from nodes.context import AnswerContext, BaselineContext, WholeContext


def _chain(name: str, *, after: str, context: type[AnswerContext] = BaselineContext, **nodes: Node) -> Graph:
    """A graph of these steps one after the other, with the ending of the answer graph.

    ``after`` is what they follow: `rerank`, the last node of the answer graph's retrieval; `read_all`; or START, if one
    of them retrieves.
    """
    graph: Any = steps(context=context)
    order = [*nodes, "verify"]
    for step, node in nodes.items():
        graph.add_node(step, node)
    add_ending(graph, baselines.verify, {})
    if after == "rerank":
        add_retrieval(graph)
        order.insert(0, after)
    elif after == "read_all":
        add_prepare(graph)
        add_read_all(graph)
        graph.add_edge("prepare", after)
        graph.add_conditional_edges(after, after_evidence, {"evidence": order[0], "no evidence": "abstain"})
    else:
        order.insert(0, START)
    for before, then in pairwise(order):
        graph.add_edge(before, then)
    return graph.compile(name=name)


full_context = _chain("full-context", after="read_all", context=WholeContext, generate=baselines.full_context)
"""Every document, without retrieval (fig. 13)."""

retrieve_and_plan = _chain("retrieve-and-plan", after="rerank", generate=baselines.plan_and_answer)
"""A free-form plan and the answer in one call over the chunks (fig. 15)."""

plan_and_retrieve = _chain(
    "plan-and-retrieve", after=START, plan=baselines.hint, retrieve=baselines.gather, generate=baselines.after_hint
)
"""A free-form plan and search queries from the question, then the answer from what they find (fig. 16)."""

markers = _chain("markers", after="rerank", relate=baselines.find_markers, generate=baselines.answer_with_markers)
"""Discourse markers between chunks instead of relations (fig. 17, appendix F)."""

BASELINES = {g.name: g for g in (full_context, retrieve_and_plan, plan_and_retrieve, markers)}


def context_of(graph: Graph) -> type[AnswerContext]:
    """The options of an answer graph or a baseline."""
    schema = graph.context_schema
    return schema if schema and issubclass(schema, AnswerContext) else AnswerContext


PRESET_NAMES: dict[str, str] = {preset: preset for preset in get_args(Preset)} | {
    "auto": "disco-rag",
    "written": "disco-rag-written",
    "verbatim": "disco-rag-verbatim",
    "paper": "disco-rag-paper",
    "standard": "standard-rag",
}
"""Preset -> its name as a pipeline."""
PIPELINES: dict[str, dict[str, Any]] = {
    **{name: {} if preset == "auto" else {"preset": preset} for preset, name in PRESET_NAMES.items()},
    **{name: {"baseline": name} for name in BASELINES},
}
"""Models of the OpenAI endpoint -> arguments of `interfaces.facade.DiscoRAG.aask`."""
NEEDS_MODEL = {*BASELINES, *(PRESET_NAMES[p] for p, options in PRESETS.items() if options.get("engine") == "llm")}
"""Pipelines that cannot do without a language model."""
