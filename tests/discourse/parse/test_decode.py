"""From scores to a tree, and from GUM's labels to Disco-RAG's relations."""

from functools import cache

import numpy as np
import pytest

from discorag.discourse.parse.gum_labels import JOINT_LABELS
from discorag.discourse.parse.trained.decode import Decoded, cuts_of, decode, level_sums, most_likely, refine_relation
from discorag.discourse.parse.trained.network import Floats, Network, Reading, Units
from discorag.schema.discourse import Nuclearity, Relation

_network = cache(Network)
_TOKENS = np.random.default_rng(3).standard_normal((4000, 256)).astype(np.float32)


def _decoded(levels: list[int], exact: int) -> list[Decoded]:
    return decode(_network(), _reading(levels), np.array(levels), exact=exact)


def _reading(levels: list[int]) -> Reading[Floats]:
    """The network's, of units of one random token each."""
    first = np.arange(len(levels))
    return _network().read(_TOKENS, Units(first, first + 1, np.array(levels), kind=0))


def _trees(i: int, j: int) -> list[list[tuple[int, int, int]]]:
    if j - i < 2:
        return [[]]
    return [[(i, k, j), *a, *b] for k in range(i + 1, j) for a in _trees(i, k) for b in _trees(k, j)]


@pytest.mark.parametrize("levels", [[2, 0, 1, 0, 0, 1], [2, 1, 2, 0, 1], [2, 0]])
def test_small_texts_get_the_most_probable_of_all_trees(levels: list[int]):
    n = len(levels)
    best = max(_trees(0, n), key=lambda t: sum(_log_p(levels, *cut) for cut in t))
    assert {(s.start, s.mid, s.end) for s in _decoded(levels, exact=40)} == set(best)


def _log_p(levels: list[int], i: int, k: int, j: int) -> float:
    at = np.array(levels)
    places = np.array([(i, m, j) for m in range(i + 1, j)]).T
    scores = _network().split_scores(_reading(levels), cuts_of(places, at, level_sums(at)))
    return float(scores[k - i - 1] - np.logaddexp.reduce(scores))


def test_a_long_text_is_cut_at_few_places_first():
    n = 3000
    levels = [2 if i % 50 == 0 else 0 for i in range(n)]
    found = _decoded(levels, exact=10)
    assert len(found) == n - 1
    top = [s for s in found if s.end - s.start > 300]
    assert all(levels[s.mid] == 2 for s in top), "wide spans are cut where paragraphs start"


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
    assert refine_relation(relation, nuclearity, "Animals make sounds.", right) is wanted


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
    assert refine_relation(relation, nuclearity, "Animals make sounds.", right) is relation


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
    assert most_likely(p)[:2] == (nuclearity, plain)
    p[JOINT_LABELS.index((nuclearity, label))] = 0.5
    assert most_likely(p)[1] is not plain
