"""The pipelines by name, as the models of the OpenAI-compatible endpoint."""

from __future__ import annotations

from typing import Any

from graphs.baselines import BASELINES
from nodes import options

PAPERS = tuple(name for name in options.PRESETS if name != "paper")
"""Presets of papers on retrieval."""
PRESETS: dict[str, dict[str, Any]] = {
    "disco-rag": {},
    "disco-rag-local": {"relater": "local", "planner": "local", "generator": "local"},
    "disco-rag-paper": {"preset": "paper"},
    "standard-rag": {"retriever": "dense", "use_tree": False, "use_graph": False, "use_plan": False},
    **{name: {"preset": name} for name in PAPERS},
    **{name: {"baseline": name} for name in BASELINES},
}
"""Name -> arguments of `interfaces.facade.DiscoRAG.aask`."""
NEEDS_MODEL = {"disco-rag-paper", *BASELINES}
"""Presets that cannot do without a language model."""
