"""The baselines that Disco-RAG is compared with (its tables 2, 4 and 9), as graphs of the same state and options.

Standard RAG has no graph of its own: it is the answer graph with trees, graph and plan switched off.
"""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from itertools import pairwise
from typing import Any, get_args

from langgraph.graph import START

from discorag.options import PRESETS, Preset
from graphs.answer import add_ending, add_retrieval, steps
from graphs.steps import Graph
from graphs.sync import Node
from nodes.answer import baselines


def _chain(name: str, *, retrieves: bool = True, **nodes: Node) -> Graph:
    """A graph of these steps one after the other, after the retrieval of the answer graph, with its ending."""
    graph: Any
    graph, order = steps(), [*nodes, "verify"]
    if retrieves:
        add_retrieval(graph)
    for step, node in nodes.items():
        graph.add_node(step, node)
    add_ending(graph, baselines.verify, {})
    for before, after in pairwise(["rerank" if retrieves else START, *order]):
        graph.add_edge(before, after)
    return graph.compile(name=name)


full_context = _chain("full-context", generate=baselines.full_context)
"""Every document, without retrieval (fig. 13): for ``retriever=all``."""

retrieve_and_plan = _chain("retrieve-and-plan", generate=baselines.plan_and_answer)
"""A free-form plan and the answer in one call over the chunks (fig. 15)."""

plan_and_retrieve = _chain(
    "plan-and-retrieve", retrieves=False, plan=baselines.hint, retrieve=baselines.gather, generate=baselines.after_hint
)
"""A free-form plan and search queries from the question, then the answer from what they find (fig. 16)."""

markers = _chain("markers", relate=baselines.find_markers, generate=baselines.answer_with_markers)
"""Discourse markers between chunks instead of relations (fig. 17, appendix F)."""

BASELINES = {g.name: g for g in (full_context, retrieve_and_plan, plan_and_retrieve, markers)}
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
