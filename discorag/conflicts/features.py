"""What the model of contradiction sees of two statements: each beside the other, and what they claim."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from discorag.conflicts.claims import features
from discorag.conflicts.claims.features import Seen, seen
from discorag.conflicts.claims.pair_model import PairModel
from discorag.conflicts.statement import Compared
from discorag.schema.discourse import ChunkRelation

WEIGHTS = Path(__file__).parent / "weights" / "contradiction.json"
_OWN = ("asserted", "asserted_other", "other_limits", "one_denied", "similarity", "effects")
NAMES = (*features.NAMES, *(f"{name}_other" for name in features.NAMES), *_OWN)
"""Names of the numbers, in the order of the columns."""
_EFFECTS = {None: 0.0, ChunkRelation.CONTRASTS_WITH: 1.0, ChunkRelation.CONTRADICTS: 2.0}


def beside(pair: Compared) -> tuple[Seen, Seen]:
    """What is seen of the two, and of the two turned round: numbers of shape (`NAMES`,)."""
    a, b = pair.a.text, pair.b.text
    one, other = seen(b, a), seen(a, b)
    return _both(pair, one, other), _both(pair.turned, other, one)


def _both(pair: Compared, one: Seen, other: Seen) -> Seen:
    a, b = pair.a, pair.b
    own = [
        float(a.asserted),
        float(b.asserted),
        float(len(a.qualifiers ^ b.qualifiers)),
        float(a.denied != b.denied),
        pair.similarity,
        _EFFECTS[pair.effect],
    ]
    numbers = np.concatenate([one.numbers, other.numbers, np.array(own, np.float32)])
    return Seen(numbers, one.cues | {f"~{cue}" for cue in other.cues})


@cache
def load_contradiction() -> PairModel:
    """The packaged model. Fitted by ``python -m training.disagreement``."""
    return PairModel.read(WEIGHTS)
