"""Relations that GUM never labels come from stated connectives and patterns only."""

import numpy as np
import pytest

from discorag.discourse.parse.gum_labels import JOINT_LABELS
from discorag.discourse.parse.trained.relabel import likely, refined
from discorag.schema.rst_relations import Nuclearity, Relation

_R, _N = Relation, Nuclearity


@pytest.mark.parametrize(
    ("relation", "nuclearity", "right", "wanted"),
    [
        (_R.ELABORATION, _N.NS, "For example, cats purr.", _R.EXAMPLE),
        (_R.EVIDENCE, _N.NS, "For instance, 12 of 20 did.", _R.EXAMPLE),
        (_R.CONTRAST, _N.NN, "Similarly, dogs bark.", _R.COMPARISON),
        (_R.JOINT, _N.NN, "Likewise, dogs bark.", _R.COMPARISON),
        (_R.RESULT, _N.NS, "Consequently, prices rose.", _R.CONSEQUENCE),
        (_R.EVALUATION, _N.NS, "This suggests a link.", _R.INTERPRETATION),
        (_R.ELABORATION, _N.NS, "A ketone is a compound with a carbonyl group.", _R.DEFINITION),
        (_R.ELABORATION, _N.NS, "There are three types of rock.", _R.CLASSIFICATION),
        (_R.CIRCUMSTANCE, _N.NS, "when the sun rises.", _R.TEMPORAL),
    ],
)
def test_a_stated_cue_names_the_special_case(relation: Relation, nuclearity: Nuclearity, right: str, wanted: Relation):
    assert refined(relation, nuclearity, "Animals make sounds.", right) is wanted


@pytest.mark.parametrize(
    ("relation", "nuclearity", "right"),
    [
        (_R.CAUSE, _N.NS, "For example, cats purr."),  # no special case of a cause
        (_R.ELABORATION, _N.SN, "For example, cats purr."),  # the example would be the nucleus
        (_R.RESULT, _N.NS, "Thus prices rose."),
        (_R.CIRCUMSTANCE, _N.NS, "in the garden."),
        (_R.ELABORATION, _N.NS, "It rained all day."),
    ],
)
def test_without_a_fitting_cue_the_relation_stays(relation: Relation, nuclearity: Nuclearity, right: str):
    assert refined(relation, nuclearity, "Animals make sounds.", right) is relation


def test_the_satellite_on_the_left_is_asked_for_a_time():
    assert refined(_R.CIRCUMSTANCE, _N.SN, "When it rains,", "we stay in.") is _R.TEMPORAL
    assert refined(_R.CIRCUMSTANCE, _N.SN, "In the garden,", "when it rains") is _R.CIRCUMSTANCE


def test_hidden_labels_give_way_to_the_next_likely_one():
    p = np.zeros(len(JOINT_LABELS))
    p[JOINT_LABELS.index((_N.SN, "organization-heading"))] = 0.6
    p[JOINT_LABELS.index((_N.SN, "context-background"))] = 0.3
    p[JOINT_LABELS.index((_N.NN, "joint-list"))] = 0.1
    assert likely(p) == (_N.SN, _R.BACKGROUND, pytest.approx(0.75))


def test_labels_of_one_relation_are_counted_together():
    p = np.zeros(len(JOINT_LABELS))
    p[JOINT_LABELS.index((_N.NS, "elaboration-additional"))] = 0.3
    p[JOINT_LABELS.index((_N.NS, "elaboration-attribute"))] = 0.3
    p[JOINT_LABELS.index((_N.NS, "causal-cause"))] = 0.4
    assert likely(p)[:2] == (_N.NS, _R.ELABORATION)


@pytest.mark.parametrize(
    ("nuclearity", "label", "plain"),
    [
        (_N.NS, "explanation-evidence", _R.ELABORATION),
        (_N.SN, "adversative-concession", _R.ELABORATION),
        (_N.NN, "joint-sequence", _R.JOINT),
    ],
)
def test_a_relation_that_is_too_unlikely_gives_way_to_the_one_that_claims_least(
    nuclearity: Nuclearity, label: str, plain: Relation
):
    p = np.full(len(JOINT_LABELS), 0.001)
    p[JOINT_LABELS.index((nuclearity, label))] = 0.01
    assert likely(p)[:2] == (nuclearity, plain)
    p[JOINT_LABELS.index((nuclearity, label))] = 0.5
    assert likely(p)[1] is not plain
