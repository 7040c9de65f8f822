"""What the nodes of some documents score for a question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discorag.retrieval.forest import Forest
from discorag.text.tokens import TokenCounter

Floats = NDArray[np.floating]
NodeScores = Literal["dense", "bm25", "hybrid"]
"""How nodes are scored: cosine of their vectors, BM25 of the leaves below, or both rankings fused."""


@dataclass(frozen=True)
class Scores:
    """The nodes of some documents with what they score for a question.

    Args:
        forest: The trees.
        nodes: Of every node of ``forest.tree``, higher is better, on whatever scale; shape (nodes,).
        sizes: Of every node's text, in words or tokens, shape (nodes,).
        keys: Of each document's tree in the store, in the order of ``forest.documents``; empty where none is stored.

    Example:
        >>> from discorag.retrieval.forest import Forest
        >>> from discorag.retrieval.index import evidence_of
        >>> from discorag.retrieval.scores import Scores
        >>> forest = Forest({"tides": tree})
        >>> scores = Scores(forest, np.zeros(len(tree.nodes)), forest.words)
        >>> list(evidence_of(scores, [1, 0], 100))
        ['tides']
    """

    forest: Forest
    nodes: Floats
    sizes: NDArray[np.int64]
    keys: tuple[str, ...] = ()


def in_tokens(scores: Scores, counter: TokenCounter) -> Scores:
    """The same with sizes in tokens, special ones left out; the nodes know their texts (`TreeIndex.scores`)."""
    offsets = counter.token_offsets([node.text for node in scores.forest.tree.nodes])
    return replace(scores, sizes=np.array([len(found) for found in offsets], np.int64))
