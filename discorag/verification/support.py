"""The model of support: how likely one place of the evidence supports a sentence. Fitted by `training.verify`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from discorag.claims.pair_model import PairModel

WEIGHTS = Path(__file__).parent / "weights" / "support.json"


@cache
def load_support() -> PairModel:
    """The packaged model."""
    return PairModel.read(WEIGHTS)
