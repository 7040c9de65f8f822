"""What a store of many chunks costs, in processor time.

``index_s`` is that of ``disco-rag reindex``, ``open_s`` that of opening the store, searching once and closing it.
``search_ms`` is the median of hybrid searches by the index, ``exact_ms`` of those without one.
"""

import time
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

import numpy as np

from bench.promises import Figures, Trial
from discorag.config import StoreSettings
from discorag.schema.values import Vectors
from discorag.store.records import SearchQuery
from discorag.store.store import Store, open_store
from tests.store.samples import ENCODER, SCOPE, sample

DIMENSION, OF_A_DOCUMENT, WORDS, VOCABULARY = 384, 100, 20, 50_000
SEARCHES, OPENINGS = 100, 5
NOWHERE = "http://127.0.0.1:9"  # a Qdrant server that does not answer: searches are exact


def run(trial: Trial) -> Figures:
    """``trial.count`` chunks of random words with random vectors; hybrid searches for ten of them."""
    rng = np.random.default_rng(trial.seed)
    vectors = _unit(rng, trial.count)
    queries = [SearchQuery(vector=v, text=_words(rng, 5), retrieval="hybrid", top_k=10) for v in _unit(rng, SEARCHES)]

    def open_(url: str | None = None) -> Store:
        return open_store(StoreSettings(path=trial.folder / "store", url=url), (ENCODER, DIMENSION))

    def searches(store: Store) -> float:
        store.search(SCOPE, queries[0])
        return round(1000 * median(_seconds(lambda q=query: store.search(SCOPE, q)) for query in queries), 3)

    def open_and_search() -> None:
        with open_() as store:
            store.search(SCOPE, queries[0])

    with open_(NOWHERE) as store:
        for first in range(0, trial.count, OF_A_DOCUMENT):
            texts = [_words(rng, WORDS) for _ in range(OF_A_DOCUMENT)]
            sample(f"{first}.md", texts, vectors=vectors[first : first + OF_A_DOCUMENT]).put_in(store)
            for _ in texts:
                trial.tick()
        exact = searches(store)
    with open_() as store:
        index = _seconds(store.reindex)
    openings = [_seconds(open_and_search) for _ in range(OPENINGS)]
    with open_() as store:
        figures = {"open_s": round(median(openings), 3), "search_ms": searches(store), "exact_ms": exact}
    return figures | {"index_s": round(index, 1)}


def _unit(rng: np.random.Generator, count: int) -> Vectors:
    vectors = rng.standard_normal((count, DIMENSION), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _words(rng: np.random.Generator, count: int) -> str:
    """Words of a vocabulary in which few are frequent."""
    return " ".join(f"word{number}" for number in (VOCABULARY * rng.random(count) ** 3).astype(int))


def _seconds(call: Callable[[], object]) -> float:
    """Processor time, in seconds, with that of child processes that ended."""
    start = _spent()
    call()
    return _spent() - start


def _spent() -> float:
    children = getrusage(RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
