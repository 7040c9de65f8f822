"""Vectors of a tree's nodes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from discorag.models.protocol import Encoder
from discorag.retrieval.builders.topics import encode_cut
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.schema.vectors import Vectors


async def node_vectors(tree: RetrievalTree, encoder: Encoder, how: Literal["text", "mean"]) -> Vectors:
    """A unit vector for every node.

    Args:
        tree: Its n nodes.
        encoder: Is asked once; its vectors have length d.
        how: ``text`` encodes each node's text. ``mean`` encodes leaves, and an inner node is the mean of the leaves
            below it, brought back to length 1.

    Returns:
        Shape (n, d), float32.

    A text that is longer than the encoder's window is encoded as far as the window reaches.

    Source: DISRetrieval section 3.2, "Node Encoding", for ``text``.
    """
    if how == "text":
        return await encode_cut(encoder, [node.text for node in tree.nodes])
    leaves = await encode_cut(encoder, [node.text for node in tree.nodes[: tree.leaves]])
    sums = _sums(tree, leaves)
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def _sums(tree: RetrievalTree, leaves: Vectors) -> Vectors:
    """For each node the sum over the leaves below it, each counted once; linear where no node has two parents."""
    sums = np.zeros((len(tree.nodes), leaves.shape[1]), dtype=np.float32)
    sums[: tree.leaves] = leaves
    shared = any(len(parents) > 1 for parents in tree.parents)
    for i in range(tree.leaves, len(tree.nodes)):
        sums[i] = sums[list(tree.leaves_of[i] if shared else tree.nodes[i].children)].sum(axis=0)
    return sums
