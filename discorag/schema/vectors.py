"""Embeddings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Unit vectors as rows, shape (n, d), or one of them, shape (d,)."""

_EXACT = 5e-7
"""By how much a squared length may differ from 1: well below 1e-6, from which on Qdrant scales a vector itself."""


def unit(vectors: Vectors) -> Vectors:
    """Vectors without length zero made as long as one, as nearly as float32 can; those that are so stay bit by bit.

    Args:
        vectors: Shape (n, d), or (d,).
    """
    exact = vectors.astype(np.float64)
    squares = (exact * exact).sum(axis=-1, keepdims=True)
    return np.where(abs(squares - 1) <= _EXACT, vectors, exact / np.sqrt(squares)).astype(np.float32)
