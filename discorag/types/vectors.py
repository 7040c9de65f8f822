"""Embeddings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Unit vectors as rows, shape (n, d), or one of them, shape (d,)."""
