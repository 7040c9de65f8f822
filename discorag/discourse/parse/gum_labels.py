"""GUM's relation labels, and what each becomes in the inventory of Disco-RAG."""

from collections.abc import Mapping
from itertools import product

from discorag.schema.discourse import Nuclearity, Relation

SAME_UNIT = "same-unit"
_R = Relation
RELATIONS: Mapping[str, Relation | None] = {
    "adversative-antithesis": _R.ANTITHESIS,
    "adversative-concession": _R.CONCESSION,
    "adversative-contrast": _R.CONTRAST,
    "attribution-negative": _R.ATTRIBUTION,
    "attribution-positive": _R.ATTRIBUTION,
    "causal-cause": _R.CAUSE,
    "causal-result": _R.RESULT,
    "context-background": _R.BACKGROUND,
    "context-circumstance": _R.CIRCUMSTANCE,
    "contingency-condition": _R.CONDITION,
    "elaboration-additional": _R.ELABORATION,
    "elaboration-attribute": _R.ELABORATION,
    "evaluation-comment": _R.EVALUATION,
    "explanation-evidence": _R.EVIDENCE,
    "explanation-justify": _R.EXPLANATION,
    "explanation-motivation": _R.EXPLANATION,
    "joint-disjunction": _R.JOINT,
    "joint-list": _R.JOINT,
    "joint-other": _R.JOINT,
    "joint-sequence": _R.SEQUENCE,
    "mode-manner": None,
    "mode-means": None,
    "organization-heading": None,
    "organization-phatic": None,
    "organization-preparation": None,
    "purpose-attribute": _R.PURPOSE,
    "purpose-goal": _R.PURPOSE,
    "restatement-partial": _R.RESTATEMENT,
    "restatement-repetition": _R.RESTATEMENT,
    SAME_UNIT: None,
    "topic-question": None,
    "topic-solutionhood": None,
}
"""GUM's 32 labels; None for those that are hidden: the tree keeps the node under a relation of the inventory."""

LABELS = tuple(RELATIONS)
_MULTINUCLEAR = frozenset(
    {"joint-list", "joint-other", "joint-sequence", "joint-disjunction", "adversative-contrast"}
    | {"restatement-repetition", SAME_UNIT}
)
JOINT_LABELS = tuple(
    (nuclearity, label)
    for label, nuclearity in product(LABELS, Nuclearity)
    if (label in _MULTINUCLEAR) == (nuclearity is Nuclearity.NN)
)
"""What the parser's network distinguishes: GUM's labels with the nuclearity that each can have."""
