"""The answer graph: every way that a question can take (Disco-RAG section 3, DISRetrieval, RDR², HTSIR)."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START

from discorag.schema.ledger import STAGES
from graphs.steps import Graph, Steps
from nodes.answer.assess import abstain, assess
from nodes.answer.generate import generate, quote
from nodes.answer.prepare import ROUTES, prepare
from nodes.answer.retrieve import read_all, rerank, retrieve_chunks, retrieve_sentence_tree
from nodes.answer.structure import parse, plan, relate
from nodes.answer.verify import refine, verify
from nodes.context import AnswerContext
from nodes.state import AnswerInput, AnswerOutput, AnswerState
from nodes.sync import Node

EDGES = [(before, after) for before, after in pairwise(STAGES) if before not in ("prepare", "retrieve", "assess")]
"""A stage and the one that always follows; those left out choose where to go."""


def steps(own: Mapping[str, Node] | None = None) -> Steps:
    """An empty graph over the answer's state and options; ``own`` nodes replace those that are added by their names."""
    schemas: dict[str, Any] = {"input_schema": AnswerInput, "output_schema": AnswerOutput}
    return Steps(AnswerState, context_schema=AnswerContext, own=own, **schemas)


def add_retrieval(graph: Steps) -> None:
    """From the question to ranked evidence: ``prepare`` is the first node, ``rerank`` the last."""
    graph.add_node("prepare", prepare, destinations=ROUTES)
    nodes = {route.__name__: route for route in (retrieve_chunks, retrieve_sentence_tree, read_all)}
    nodes["route_headings"] = retrieve_sentence_tree  # RDR²: its retriever walks the tree of headings with a router
    for name in ROUTES:
        graph.add_node(name, nodes[name], destinations=("rerank", "abstain"))
    graph.add_node("rerank", rerank)


def add_abstain(graph: Steps) -> None:
    """Add the end of a run without an answer."""
    graph.add_node("abstain", abstain)
    graph.add_edge("abstain", END)


def add_ending(graph: Steps) -> None:
    """What comes after the draft: ``verify`` is the first node."""
    graph.add_node("verify", verify, destinations=("verify", "refine", "abstain", END))
    graph.add_node("refine", refine)
    graph.add_edge("refine", "verify")
    add_abstain(graph)


def build(nodes: Mapping[str, Node] | None = None, **compile_options: Any) -> Graph:
    """The compiled graph.

    Args:
        nodes: Your own nodes, by the name of the node that each replaces.
        **compile_options: As for `langgraph.graph.StateGraph.compile`: a checkpointer, ``interrupt_before``, ...

    Raises:
        UnknownNameError: The graph has no node of this name; the hint lists those that it has.
    """
    graph = steps(nodes)
    add_retrieval(graph)
    graph.add_node("assess", assess, destinations=("quote", "abstain"))
    for node in (parse, quote, relate, plan, generate):
        graph.add_node(node.__name__, node)
    add_ending(graph)
    graph.add_edge(START, "prepare")
    for before, after in EDGES:
        graph.add_edge(before, after)
    return graph.compile(name="answer", **compile_options)


graph = build()
