"""The pipelines that the OpenAI-compatible endpoint offers, as its model names."""

from __future__ import annotations

from typing import Any

from graphs.baselines import BASELINES

PRESETS: dict[str, dict[str, Any]] = {
    "disco-rag": {},
    "disco-rag-local": {"relater": "local", "planner": "local", "generator": "local"},
    "disco-rag-paper": {"preset": "paper"},
    "standard-rag": {"retriever": "dense", "use_tree": False, "use_graph": False, "use_plan": False},
    **{name: {"baseline": name} for name in BASELINES},
}
"""Model name -> arguments of `graphs.facade.DiscoRAG.aask`."""
NEEDS_MODEL = {"disco-rag-paper", *BASELINES}
"""Presets that cannot do without a language model."""
