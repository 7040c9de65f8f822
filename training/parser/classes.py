"""The coarse classes of GUM's labels, over which parsers are compared."""

from __future__ import annotations

from discorag.discourse.parse.gum_labels import SAME_UNIT

CLASSES = (
    "adversative", "attribution", "causal", "context", "contingency", "elaboration", "evaluation", "explanation",
    "joint", "mode", "organization", "purpose", "restatement", SAME_UNIT, "topic",
)  # fmt: skip
"""The 15 coarse classes over which parsers of GUM are compared."""


def class_of(label: str) -> str:
    """The coarse class of one of GUM's labels."""
    return SAME_UNIT if label == SAME_UNIT else label.partition("-")[0]
