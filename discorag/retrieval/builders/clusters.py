"""The RAPTOR tree: clusters of similar chunks, wherever they are in the document, with summaries, layer upon layer.

Source: Sarthi et al. (2024), "RAPTOR: Recursive Abstractive Processing for Tree-Organized Retrieval", section 3.
"""

# scikit-learn and umap are not typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import asyncio
import math
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discorag.extras import extra
from discorag.ingest.segment.chunks import SPLITTER_VERSION
from discorag.models.protocol import Encoder
from discorag.retrieval.builders.base import Built, Source, chunk_leaves, encode_cut, room, units_of
from discorag.retrieval.builders.node_text import Branch, Growth, Tau
from discorag.retrieval.builders.summaries import Summariser
from discorag.schema.values import Vectors

_LOCAL_NEIGHBORS = 10
# How many more components than in the best mixture are tried. After its first minimum, BIC falls again only where
# components have shrunk to a few points each.
_PATIENCE = 4
# numba's threads allow one caller at a time, and warning filters belong to the whole process.
_LOCK = threading.Lock()


@dataclass(frozen=True)
class ClusterSizes:
    """Sizes of a cluster tree. A cluster above ``cluster_tokens``, the summariser's limit, is clustered again.

    A node belongs to every cluster for which its probability is at least ``threshold``.

    Source: RAPTOR section 3 (leaves of 100 tokens), appendix C (summaries of 131 tokens, about 100 words).
    """

    chunk_tokens: int = 100
    cluster_tokens: int = 3500
    summary_words: int = 100
    dimensions: int = 10
    max_clusters: int = 50
    threshold: float = 0.1
    seed: int = 0


class ClusterBuilder:
    """Makes a tree of clusters: a node's children may be far apart, and a node may have several parents.

    The texts of a layer are embedded, clustered and summarised; all summaries of a layer are made at the same time. A
    node that is alone in its cluster moves up unchanged. The tree ends with one root, or when clustering would not
    reduce the number of nodes.

    Source: RAPTOR section 3.
    """

    name = "clusters"

    def __init__(self, encoder: Encoder, summariser: Summariser, sizes: ClusterSizes | None = None) -> None:
        self._encoder, self._summariser, self._sizes = encoder, summariser, sizes or ClusterSizes()
        with extra("raptor"):
            self._libraries = f"umap-{version('umap-learn')}+sklearn-{version('scikit-learn')}"

    @property
    def version(self) -> str:
        """The sizes, and the versions of the libraries that cluster, of encoder, summariser and sentence splitter."""
        sizes = "/".join(str(value) for value in vars(self._sizes).values())
        return f"1/{sizes}+{self._libraries}:{self._encoder.version}:{self._summariser.version}:{SPLITTER_VERSION}"

    async def build(self, source: Source) -> Built:
        """See `Builder.build`."""
        counter, sizes = self._encoder.tokens, self._sizes
        units = await asyncio.to_thread(units_of, source, counter)
        leaves = chunk_leaves(source, units, tokens=min(sizes.chunk_tokens, room(counter)))
        growth = Growth(leaves, Tau(self._summariser, 0, sizes.summary_words), gaps=True)
        layer = list(range(len(leaves)))
        while len(layer) > 1:
            texts = [growth.nodes[i].text for i in layer]
            vectors = await encode_cut(self._encoder, texts)
            tokens = list(map(len, await asyncio.to_thread(counter.token_offsets, texts)))
            clusters = await asyncio.to_thread(clusters_of, vectors, tokens, sizes)
            groups = [tuple(layer[m] for m in members) for members in clusters if len(members) > 1]
            alone = sorted(set(layer).difference(*groups))
            if len(groups) + len(alone) >= len(layer):
                break
            layer = [*alone, *await growth.add([Branch(group) for group in groups])]
        return await growth.finish(self.name)


def clusters_of(vectors: Vectors, tokens: Sequence[int], sizes: ClusterSizes) -> list[tuple[int, ...]]:
    """Which texts belong together: global clusters, local ones inside each, and none too long to be summarised.

    ``vectors`` are unit vectors, shape (n, d); ``tokens`` are the lengths of the texts.

    Returns:
        Indices of each cluster's members, ascending, no cluster twice; every text is in at least one.

    Source: RAPTOR section 3, "Clustering Algorithm".
    """
    # umap and scikit-learn warn of small data, and umap of TensorFlow
    with _LOCK, warnings.catch_warnings(action="ignore"):
        everything = np.arange(len(vectors))
        broad = _split(vectors, everything, math.isqrt(max(len(vectors) - 1, 1)), sizes)
        local = (fine for members in broad for fine in _split(vectors, members, _LOCAL_NEIGHBORS, sizes))
        fitting = {tuple(part.tolist()) for members in local for part in _fit(vectors, tokens, members, sizes)}
    return sorted(fitting)


def _split(
    vectors: Vectors, members: NDArray[np.int64], neighbors: int, sizes: ClusterSizes
) -> list[NDArray[np.int64]]:
    """Clusters among ``members``; a single one if too few of them differ for UMAP."""
    chosen = vectors[members]
    if len(np.unique(chosen.round(6), axis=0)) <= sizes.dimensions + 1:
        return [members]
    parts = find_soft_clusters(_reduce(chosen, min(neighbors, len(chosen) - 1), sizes), sizes)
    return [members[part] for part in parts]


def _fit(
    vectors: Vectors, tokens: Sequence[int], members: NDArray[np.int64], sizes: ClusterSizes
) -> Iterator[NDArray[np.int64]]:
    """``members``, clustered again until each cluster fits the summariser; halved if they do not split."""
    if len(members) == 1 or sum(tokens[m] for m in members) <= sizes.cluster_tokens:
        yield members
        return
    parts = _split(vectors, members, _LOCAL_NEIGHBORS, sizes)
    if max(map(len, parts)) == len(members):
        parts = np.array_split(members, 2)
    for part in parts:
        yield from _fit(vectors, tokens, part, sizes)


def _reduce(vectors: Vectors, neighbors: int, sizes: ClusterSizes) -> NDArray[np.float64]:
    """The vectors in fewer dimensions, shape (n, sizes.dimensions), by UMAP (McInnes et al. 2018).

    UMAP's spectral start needs about twice as many points as dimensions; with fewer it gives other results each time.
    """
    enough = len(vectors) > 2 * (sizes.dimensions + 1) + 1
    reducer = _umap().UMAP(
        n_neighbors=max(neighbors, 2),
        n_components=sizes.dimensions,
        metric="cosine",
        init="spectral" if enough else "random",
        random_state=sizes.seed,
        n_jobs=1,
    )
    return np.asarray(reducer.fit_transform(vectors), dtype=np.float64)


@cache
def _umap() -> Any:
    """UMAP, with its slowest functions compiled once for the installation instead of in every process (12 s)."""
    with extra("raptor"):
        from umap import umap_, utils

    for function in (utils.fast_knn_indices, umap_.smooth_knn_dist, umap_.compute_membership_strengths):
        with suppress(RuntimeError):  # no folder to keep them in
            function.enable_caching()
    return umap_


def find_soft_clusters(points: NDArray[np.float64], sizes: ClusterSizes) -> list[NDArray[np.int64]]:
    """Soft clusters by the Gaussian mixture with the lowest BIC: the points that each component may hold."""
    with extra("raptor"):
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits

    best: Any = None
    lowest, without = math.inf, 0
    # Several threads are slower on matrices of this size.
    with threadpool_limits(1):
        for count in range(1, min(sizes.max_clusters, len(points) // 2) + 1):
            model = GaussianMixture(count, random_state=sizes.seed).fit(points)
            bic = float(model.bic(points))
            best, lowest, without = (model, bic, 0) if bic < lowest else (best, lowest, without + 1)
            if without == _PATIENCE:
                break
        chances = best.predict_proba(points)
    held = chances >= np.minimum(sizes.threshold, chances.max(axis=1, keepdims=True))
    return [np.flatnonzero(column) for column in held.T if column.any()]
