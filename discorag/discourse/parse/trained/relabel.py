"""From GUM's labels to Disco-RAG's relations: what the network says, refined by what the text states.

Seven relations are never labelled in GUM. They come from stated connectives and patterns only, each from the relations
that it is a special case of. Organisation, topic, manner and interrupted clauses hide under their next likely label.
A relation that is too unlikely is not shown: its place takes the one that claims least.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from discorag.discourse.parse.gum_labels import JOINT_LABELS, RELATIONS
from discorag.discourse.parse.markers import opening
from discorag.discourse.parse.trained.decode import Floats
from discorag.schema.rst_relations import Nuclearity, Relation

_R = Relation
_SHOWN = [(n, RELATIONS[label]) for n, label in JOINT_LABELS]
PAIRS = sorted({(n, r) for n, r in _SHOWN if r is not None})
"""Nuclearity and relation of a node, as far as GUM labels them."""
_TO_PAIR = np.array([[pair == shown for pair in PAIRS] for shown in _SHOWN], dtype=np.float64)

_SHOWN_FROM = 0.3
"""Relations below were right 18 % of the time on GUM's development part, ELABORATION and JOINT aside."""
_PLAIN = {
    Nuclearity.NS: PAIRS.index((Nuclearity.NS, _R.ELABORATION)),
    Nuclearity.SN: PAIRS.index((Nuclearity.SN, _R.ELABORATION)),
    Nuclearity.NN: PAIRS.index((Nuclearity.NN, _R.JOINT)),
}

_CLASSIFICATION = re.compile(
    r"\b(?:there (?:are|exist)|(?:is|are|can be) (?:divided|classified|grouped|split) (?:into|as)|falls? into)\b"
    r".*\b(?:types?|kinds?|classes|categories|groups?|forms?|varieties)\b|\b(?:types?|kinds?|classes|categories|forms?)"
    r" (?:of [\w -]+ )?(?:are|include)\b",
    re.IGNORECASE | re.DOTALL,
)
_TIME = re.compile(
    r"\W*(?:when|while|as soon as|before|after|until|since|once|whenever|meanwhile|at the same time"
    r"|in (?:1[0-9]|20)\d\d)\b",
    re.IGNORECASE,
)
_MARKED: Mapping[Relation, frozenset[Relation]] = {
    _R.EXAMPLE: frozenset({_R.ELABORATION, _R.EVIDENCE, _R.EXPLANATION}),
    _R.COMPARISON: frozenset({_R.CONTRAST, _R.JOINT, _R.ELABORATION}),
    _R.CONSEQUENCE: frozenset({_R.RESULT}),
    _R.INTERPRETATION: frozenset({_R.EVALUATION, _R.ELABORATION, _R.RESULT}),
    _R.DEFINITION: frozenset({_R.ELABORATION, _R.RESTATEMENT}),
}
"""What a marker at the start of the right-hand side may turn which relations into."""


def likely(label_ps: Floats) -> tuple[Nuclearity, Relation, float]:
    """The best pair of nuclearity and relation, and its probability among those that are shown.

    Below `_SHOWN_FROM` the relation is ELABORATION, or JOINT of two nuclei, with the probability that this has.

    Args:
        label_ps: Over `JOINT_LABELS`, shape (labels,).
    """
    ps = label_ps @ _TO_PAIR
    ps /= ps.sum()
    best = int(ps.argmax())
    if ps[best] < _SHOWN_FROM:
        best = _PLAIN[PAIRS[best][0]]
    nuclearity, relation = PAIRS[best]
    assert relation is not None
    return nuclearity, relation, float(ps[best])


def refined(relation: Relation, nuclearity: Nuclearity, left: str, right: str) -> Relation:
    """The relation, or the special case of it that the texts of the two sides state."""
    satellite = left if nuclearity is Nuclearity.SN else right
    marker = opening(right)
    if marker and relation in _MARKED.get(marker.relation, ()):
        return marker.relation if _fits(marker.relation, nuclearity) else relation
    if relation is _R.CIRCUMSTANCE and _TIME.match(satellite):
        return _R.TEMPORAL
    if relation is _R.ELABORATION and _CLASSIFICATION.search(satellite):
        return _R.CLASSIFICATION
    return relation


def _fits(relation: Relation, nuclearity: Nuclearity) -> bool:
    """A satellite that says it is an example, a definition or a reading has to be the satellite on the right."""
    return relation is _R.COMPARISON or nuclearity is Nuclearity.NS
