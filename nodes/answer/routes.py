"""Where a question goes after a node: decisions of the graph, read from the state alone.

A node that somebody else wrote, or an edit of a stopped run, needs to say nothing about them.
"""

from typing import Literal

from nodes.given import is_reviewed
from nodes.state import AnswerState, Route


def after_prepare(state: AnswerState) -> Route:
    """How evidence is searched for."""
    return state.get("route") or "chunks"


def after_evidence(state: AnswerState) -> Literal["evidence", "no evidence"]:
    """Whether something was found that may answer the question."""
    return "no evidence" if state.get("because") else "evidence"


def after_rerank(state: AnswerState) -> Literal["a model decides", "no model decides"]:
    """Whether a language model, which has something to read, decides if the evidence answers the question."""
    return "a model decides" if state.get("is_written") and state.get("hits") else "no model decides"


def after_model(state: AnswerState) -> Literal["done", "model failed"]:
    """Whether the language model did its part, or the run starts again without it."""
    return "model failed" if has_model_failed(state) else "done"


def after_plan(state: AnswerState) -> Literal["done", "to review", "model failed"]:
    """Whether a person reads the plan before the answer is written."""
    if has_model_failed(state):
        return "model failed"
    return "to review" if is_reviewed(state) else "done"


def after_verify(state: AnswerState) -> Literal["verified", "to refine", "to correct", "no answer", "model failed"]:
    """Whether the answer stands."""
    if has_model_failed(state):
        return "model failed"
    if state.get("because"):
        return "no answer"
    if state.get("to_correct"):
        return "to correct"
    return "to refine" if state.get("rounds") else "verified"


def has_model_failed(state: AnswerState) -> bool:
    """Whether the language model has failed since `nodes.answer.prepare` last ran.

    This happens once per question: afterwards the run ``is_written`` by no model, so none can fail.
    """
    return state.get("model_failed", False) and state.get("is_written", False)
