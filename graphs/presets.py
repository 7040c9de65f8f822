"""The pipelines by name: the models of the OpenAI-compatible endpoint, and the graphs of Studio's presets."""

from __future__ import annotations

from typing import Any, cast

from pydantic import model_validator

from graphs.answer import Graph, build
from graphs.baselines import BASELINES
from nodes import switches
from nodes.context import AnswerContext

PAPERS = tuple(name for name in switches.PRESETS if name != "paper")
"""Presets of papers on retrieval."""
PRESETS: dict[str, dict[str, Any]] = {
    "disco-rag": {},
    "disco-rag-local": {"relater": "local", "planner": "local", "generator": "local"},
    "disco-rag-paper": {"preset": "paper"},
    "standard-rag": {"retriever": "dense", "use_tree": False, "use_graph": False, "use_plan": False},
    **{name: {"preset": name} for name in PAPERS},
    **{name: {"baseline": name} for name in BASELINES},
}
"""Name -> arguments of `graphs.facade.DiscoRAG.aask`."""
NEEDS_MODEL = {"disco-rag-paper", *BASELINES}
"""Presets that cannot do without a language model."""


def _graph(name: str) -> Graph:
    """The answer graph whose switches are the preset's unless a run says otherwise: an assistant of its own."""

    class Preset(AnswerContext):
        @model_validator(mode="before")
        @classmethod
        def _switched(cls, given: Any) -> Any:
            return {**PRESETS[name], **cast("dict[str, Any]", given)} if isinstance(given, dict) else given

    return build(name=name, context=Preset)


disco_rag_paper, standard_rag = _graph("disco-rag-paper"), _graph("standard-rag")
disretrieval, raptor, htsir, rdr2 = map(_graph, ("disretrieval", "raptor", "htsir", "rdr2"))
