"""What a store of many chunks costs: ``open_s`` to open it, search once and close it, ``search_ms`` for a search.

Both are medians of processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from bench.promises import Figures, Trial
from discorag.config import StoreSettings
from discorag.schema.values import Vectors
from discorag.store.records import SearchQuery
from discorag.store.store import open_store
from tests.store.samples import ENCODER, SCOPE, sample

DIMENSION, OF_A_DOCUMENT, WORDS, VOCABULARY = 384, 100, 20, 50_000
SEARCHES, OPENINGS = 100, 5


def run(trial: Trial) -> Figures:
    """``trial.count`` chunks of random words with random vectors; hybrid searches for ten of them."""
    rng, settings = np.random.default_rng(trial.seed), StoreSettings(path=trial.folder / "store")
    vectors = _unit(rng, trial.count)
    with open_store(settings, (ENCODER, DIMENSION)) as store:
        for first in range(0, trial.count, OF_A_DOCUMENT):
            texts = [_words(rng, WORDS) for _ in range(OF_A_DOCUMENT)]
            sample(f"{first}.md", texts, vectors=vectors[first : first + OF_A_DOCUMENT]).put_in(store)
            for _ in texts:
                trial.tick()
        store.optimise()
    queries = [SearchQuery(vector=v, text=_words(rng, 5), retrieval="hybrid", top_k=10) for v in _unit(rng, SEARCHES)]

    def open_and_search() -> None:
        with open_store(settings, (ENCODER, DIMENSION)) as store:
            store.search(SCOPE, queries[0])

    openings = [_seconds(open_and_search) for _ in range(OPENINGS)]
    with open_store(settings, (ENCODER, DIMENSION)) as store:
        searches = [_seconds(lambda q=query: store.search(SCOPE, q)) for query in queries]
    return {"open_s": round(median(openings), 3), "search_ms": round(1000 * median(searches), 3)}


def _unit(rng: np.random.Generator, count: int) -> Vectors:
    vectors = rng.standard_normal((count, DIMENSION), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _words(rng: np.random.Generator, count: int) -> str:
    """Words of a vocabulary in which few are frequent."""
    return " ".join(f"word{number}" for number in (VOCABULARY * rng.random(count) ** 3).astype(int))


def _seconds(call: Callable[[], object]) -> float:
    """Processor time, in seconds."""
    start = time.process_time()
    call()
    return time.process_time() - start
