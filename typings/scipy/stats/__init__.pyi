from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class _TestResult:
    statistic: float
    pvalue: float

class _ConfidenceInterval:
    low: float
    high: float

class _BootstrapResult:
    confidence_interval: _ConfidenceInterval

def ttest_1samp(a: NDArray[np.float64], popmean: float) -> _TestResult: ...
def bootstrap(
    data: Sequence[NDArray[Any]],
    statistic: Callable[..., Any],
    *,
    n_resamples: int = ...,
    batch: int | None = ...,
    vectorized: bool | None = ...,
    confidence_level: float = ...,
    method: str = ...,
    rng: np.random.Generator | None = ...,
) -> _BootstrapResult: ...

class _BinomTestResult:
    statistic: float
    def proportion_ci(self, confidence_level: float = ..., method: str = ...) -> _ConfidenceInterval: ...

def binomtest(k: int, n: int) -> _BinomTestResult: ...
