"""The answer graph: every way that a question can take (Disco-RAG section 3, DISRetrieval, RDR², HTSIR)."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from collections.abc import Hashable, Mapping
from typing import Any

from langgraph.graph import END, START

from graphs.steps import Graph, Steps
from graphs.sync import Node
from nodes.answer import routes
from nodes.answer.assess import abstain, assess
from nodes.answer.correct import correct
from nodes.answer.generate import generate
from nodes.answer.parse import parse
from nodes.answer.plan import plan
from nodes.answer.prepare import prepare
from nodes.answer.relate import relate
from nodes.answer.rerank import rerank
from nodes.answer.retrieve import read_all, retrieve_chunks, retrieve_sentence_tree
from nodes.answer.review import review
from nodes.answer.verify import refine, verify
from nodes.context import AnswerContext
from nodes.state import AnswerInput, AnswerOutput, AnswerState

Ways = dict[Hashable, str]
"""What a decision says -> the node that comes next."""


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
    add_step(graph, "assess", assess, "estimates whether the evidence answers the question")
    add_step(graph, "parse", parse, "makes the RST trees that are missing", "Disco-RAG section 3, figure 10")
    add_step(graph, "relate", relate, "relates the passages to each other", "Disco-RAG section 3, figure 11")
    add_step(graph, "plan", plan, "plans the answer", "Disco-RAG section 3, figure 12")
    add_step(graph, "review", review, "lets a person read and edit the plan")
    add_step(graph, "generate", generate, "writes the answer that was planned", "Disco-RAG section 3, figure 18")
    add_ending(graph, verify, {"model failed": "prepare"})
    graph.add_conditional_edges(
        "rerank", routes.after_rerank, {"no model decides": "assess", "a model decides": "parse"}
    )
    graph.add_conditional_edges("assess", routes.after_evidence, {"evidence": "parse", "no evidence": "abstain"})
    graph.add_edge("parse", "relate")
    graph.add_conditional_edges("relate", routes.after_model, {"done": "plan", "model failed": "prepare"})
    graph.add_conditional_edges(
        "plan", routes.after_plan, {"done": "generate", "to review": "review", "model failed": "prepare"}
    )
    graph.add_edge("review", "generate")
    graph.add_conditional_edges("generate", routes.after_model, {"done": "verify", "model failed": "prepare"})
    return graph.compile(name="answer", **compile_options)


def steps(own: Mapping[str, Node] | None = None, *, context: type[AnswerContext] = AnswerContext) -> Steps:
    """An empty graph over the answer's state and options; ``own`` nodes replace those that are added by their names."""
    schemas: dict[str, Any] = {"input_schema": AnswerInput, "output_schema": AnswerOutput}
    return Steps(AnswerState, context_schema=context, own=own, **schemas)


def add_step(graph: Steps, name: str, node: Node, does: str, paper: str = "") -> None:
    """Add a node with its metadata: what it does, and where a paper describes it."""
    graph.add_node(name, node, metadata={"does": does} | ({"paper": paper} if paper else {}))


def add_retrieval(graph: Steps, *, otherwise: str = "abstain") -> None:
    """Add the steps from the question to ranked evidence: ``prepare`` is the first node, ``rerank`` the last.

    Where nothing is found, the run goes to the node ``otherwise``.
    """
    add_prepare(graph)
    add_step(graph, "retrieve_chunks", retrieve_chunks, "searches for chunks", "Disco-RAG section 3")
    add_step(graph, "retrieve_sentence_tree", retrieve_sentence_tree, "searches trees", "DISRetrieval section 3.3")
    add_step(graph, "route_headings", retrieve_sentence_tree, "walks the headings with a router", "RDR² section 3")
    add_read_all(graph)
    add_step(graph, "rerank", rerank, "orders what was found", "HTSIR, reranker")
    searches: Ways = {
        "chunks": "retrieve_chunks",
        "sentence tree": "retrieve_sentence_tree",
        "headings": "route_headings",
        "everything": "read_all",
    }
    graph.add_conditional_edges("prepare", routes.after_prepare, searches)
    for search in searches.values():
        graph.add_conditional_edges(search, routes.after_evidence, {"evidence": "rerank", "no evidence": otherwise})


def add_prepare(graph: Steps) -> None:
    """Add the node with which a run begins."""
    add_step(graph, "prepare", prepare, "makes the question self-contained and chooses the search")
    graph.add_edge(START, "prepare")


def add_read_all(graph: Steps) -> None:
    """Add the node that takes every chunk, without a search."""
    add_step(graph, "read_all", read_all, "takes every chunk that fits", "Disco-RAG figure 13")


def add_ending(graph: Steps, verify: Node, ways: Ways) -> None:
    """Add what follows the draft: ``verify`` is the first node, which has these further ``ways`` to go."""
    add_step(graph, "verify", verify, "traces every sentence to its sources")
    add_step(graph, "refine", refine, "lets the model rewrite its answer", "HTSIR, feedback-driven refinement")
    add_step(graph, "correct", correct, "lets the model correct what the check found")
    add_step(graph, "abstain", abstain, "says why there is no answer, with the closest passages")
    ends: Ways = {"verified": END, "to refine": "refine", "to correct": "correct", "no answer": "abstain", **ways}
    graph.add_conditional_edges("verify", routes.after_verify, ends)
    graph.add_edge("refine", "verify")
    graph.add_edge("correct", END)
    graph.add_edge("abstain", END)


graph = build()
