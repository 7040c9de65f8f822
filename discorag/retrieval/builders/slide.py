"""Windows of sentences as nodes: all of some widths (SLIDE), or those whose borders follow another builder's tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from discorag.retrieval.builder import Builder, Built, Source, inner
from discorag.retrieval.builders.borders import snapped_windows
from discorag.retrieval.builders.leaves import sentence_leaves
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.words import first_words

WIDTHS = (2, 4, 8, 16)
_WORDS = 256  # of a node's text: what an encoder reads of it


class SlideBuilder:
    """Every run of 2, 4, 8 or 16 neighbouring sentences is a node above them.

    Args:
        widths: Sentences in a window, each 2 or more.

    Example:
        >>> from discorag.retrieval.builders.slide import SlideBuilder
        >>> tree = asyncio.run(SlideBuilder(widths=[2]).build(source)).tree
        >>> [node.children for node in tree.nodes[tree.leaves :]]
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    """

    name = "slide"

    def __init__(self, widths: Sequence[int] = WIDTHS) -> None:
        self._widths = tuple(widths)

    @property
    def version(self) -> str:
        """With the widths."""
        return f"slide-1/{'-'.join(map(str, self._widths))}"

    async def build(self, source: Source) -> Built:
        """Sentences, and the windows in the order of their widths."""
        leaves = sentence_leaves(source)
        runs = ((at, at + width) for width in self._widths for at in range(len(leaves) - width + 1))
        return Built(_over(leaves, runs, self.name))


class SnappedBuilder:
    """Runs of up to ``widest`` sentences that are subtrees of a tree, or neighbouring subtrees (`snapped_windows`).

    Args:
        trees: Makes the tree that the borders follow; its leaves are sentences.
        widest: Sentences in the widest window.

    Example:
        >>> from discorag.retrieval.builders.bisection import BisectionBuilder
        >>> from discorag.retrieval.builders.node_text import Concat
        >>> from discorag.retrieval.builders.slide import SnappedBuilder
        >>> tree = asyncio.run(SnappedBuilder(BisectionBuilder(Concat()), widest=3).build(source)).tree
        >>> [node.children for node in tree.nodes[tree.leaves :]]
        [(0, 1), (0, 1, 2), (1, 2), (2, 3), (2, 3, 4), (3, 4), (3, 4, 5), (4, 5)]
    """

    name = "snapped"

    def __init__(self, trees: Builder, widest: int = 16) -> None:
        self._trees, self._widest = trees, widest

    @property
    def version(self) -> str:
        """With the width and the other builder's."""
        return f"snapped-1/{self._widest}/{self._trees.version}"

    async def build(self, source: Source) -> Built:
        """Sentences, and the windows in the order of their starts; with what the other builder's tree took."""
        built = await self._trees.build(source)
        follows = snapped_windows(built.tree, self._widest)
        starts, beyond = np.nonzero(follows[:, 1:])
        runs = zip(starts.tolist(), (starts + beyond + 2).tolist(), strict=True)
        leaves = built.tree.nodes[: built.tree.leaves]
        return replace(built, tree=_over(leaves, runs, self.name))


def _over(leaves: Sequence[RetrievalNode], runs: Iterator[tuple[int, int]], name: str) -> RetrievalTree:
    windows = (
        inner(leaves, range(start, end), first_words((n.text for n in leaves[start:end]), _WORDS))
        for start, end in runs
    )
    return RetrievalTree(builder=name, nodes=(*leaves, *windows))
