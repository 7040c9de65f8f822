"""Which unit answers: a small calibrated model over `discorag.answer.features`, trained on labelled evidence."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from discorag.answer.features import features
from discorag.answer.logistic import Logistic
from discorag.answer.words import Floats
from discorag.claims.units import UnitTable
from discorag.types.case import Case
from discorag.types.vectors import Vectors

WEIGHTS = Path(__file__).parent / "weights" / "scorer.json"


def scores(case: Case, table: UnitTable, query: Vectors) -> Floats:
    """For each unit the probability that it holds what was asked for, shape (units,)."""
    return model().probabilities(features(case, table, query))


@cache
def model() -> Logistic:
    """The trained scorer; ``threshold`` is the probability from which a further unit is told."""
    return Logistic.model_validate_json(WEIGHTS.read_text("utf-8"))
