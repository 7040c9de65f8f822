from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def aggregate_raters(
    data: Sequence[Sequence[int]], n_cat: int | None = ...
) -> tuple[NDArray[np.int64], NDArray[Any]]: ...
def fleiss_kappa(table: NDArray[np.int64], method: str = ...) -> float: ...
