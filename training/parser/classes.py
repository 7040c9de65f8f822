"""The coarse classes of GUM's labels, over which parsers are compared."""

from __future__ import annotations

from discorag.discourse.parse.gum_labels import RELATIONS, SAME_UNIT
from discorag.schema.discourse import Relation

CLASSES = (
    "adversative", "attribution", "causal", "context", "contingency", "elaboration", "evaluation", "explanation",
    "joint", "mode", "organization", "purpose", "restatement", SAME_UNIT, "topic",
)  # fmt: skip
"""The 15 coarse classes over which parsers of GUM are compared."""


def class_of(label: str) -> str:
    """The coarse class of one of GUM's labels."""
    return SAME_UNIT if label == SAME_UNIT else label.partition("-")[0]


def class_of_relation(relation: Relation) -> str:
    """The coarse class of one of Disco-RAG's relations; for those that GUM does not label, of what they are a case of.

    Source: Disco-RAG appendix B, the inventory.
    """
    return _CLASS_OF[relation]


_CLASS_OF = {relation: class_of(label) for label, relation in RELATIONS.items() if relation is not None} | {
    Relation.EXAMPLE: "elaboration",
    Relation.DEFINITION: "elaboration",
    Relation.CLASSIFICATION: "elaboration",
    Relation.SUMMARY: "restatement",
    Relation.COMPARISON: "adversative",
    Relation.CONSEQUENCE: "causal",
    Relation.INTERPRETATION: "evaluation",
    Relation.TEMPORAL: "context",
    Relation.JOINT: "joint",
    Relation.SEQUENCE: "joint",
}
