"""When enough is told."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discorag.answer.stop import NAMES, model, row
from discorag.answer.words import said

QUESTION = "When did the old mill burn?"
TEXTS = [
    "The mill burned in 1912.",
    "It was old and the mill stood by the river.",
    "The mill burned down.",
    "Rain fell.",
]


def _probability(unit: int, told: list[int], relevance: list[float]) -> float:
    return float(model().probabilities(np.array([row(unit, told, np.array(relevance), said(QUESTION, TEXTS))]))[0])


@given(st.floats(0.01, 0.98), st.floats(0.01, 0.98))
def test_the_likelier_a_unit_answers_the_rather_it_is_told(a: float, b: float) -> None:
    lower, higher = sorted((a, b))
    assert _probability(1, [0], [0.99, lower, 0, 0]) <= _probability(1, [0], [0.99, higher, 0, 0])


@given(st.floats(0.2, 0.98), st.floats(0.2, 0.98))
def test_the_surer_the_best_is_the_less_is_told_beside_it(a: float, b: float) -> None:
    unsure, sure = sorted((a, b))
    assert _probability(1, [0], [sure, 0.2, 0, 0]) <= _probability(1, [0], [unsure, 0.2, 0, 0])


def test_what_says_more_of_the_question_adds_more() -> None:
    relevance = [0.6, 0.3, 0.3, 0.3]
    assert _probability(1, [0], relevance) > _probability(2, [0], relevance)
    said_of = row(1, [0], np.array(relevance), said(QUESTION, TEXTS))
    assert dict(zip(NAMES, said_of, strict=True))["new"] > 0
    assert row(2, [0], np.array(relevance), said(QUESTION, TEXTS))[-1] == 0


@given(st.floats(0, 1), st.floats(0, 1))
def test_any_probability_has_a_number(a: float, b: float) -> None:
    assert np.isfinite(row(3, [0, 1], np.array([a, b, 0.0, 1.0]), said("?", TEXTS))).all()
