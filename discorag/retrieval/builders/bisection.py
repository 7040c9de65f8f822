"""Balanced binary trees over sentences: the baseline Bisection (DISRetrieval section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from discorag.retrieval.builder import Built, Source
from discorag.retrieval.builders.leaves import sentence_leaves
from discorag.retrieval.builders.node_text import Growth, NodeText, binary
from discorag.schema.rst_relations import Nuclearity, Relation
from discorag.schema.rst_tree import Split

Cut = Callable[[int, int], int]
"""Where to cut units ``[start, end)``: the first unit of the right side."""


class BisectionBuilder:
    """Halves of halves of the document's sentences; the left one is the larger if one must be.

    Args:
        text: Of inner nodes.

    Example:
        >>> from discorag.retrieval.builders.bisection import BisectionBuilder
        >>> from discorag.retrieval.builders.node_text import Concat
        >>> tree = asyncio.run(BisectionBuilder(Concat()).build(source)).tree
        >>> tree.leaves, tree.nodes[-1].children
        (6, (7, 9))
    """

    name = "bisection"

    def __init__(self, text: NodeText) -> None:
        self._text = text

    @property
    def version(self) -> str:
        """With the node text's."""
        return f"{self.name}-1/{self._text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root and n - 1 inner nodes over n sentences."""
        return await built_by(self.name, source, self._text, halved)


def halved(start: int, end: int) -> int:
    """In the middle."""
    return (start + end + 1) // 2


async def built_by(name: str, source: Source, text: NodeText, cut: Cut) -> Built:
    """The binary tree over all sentences that ``cut`` makes from the root downwards; no relations, all nuclei."""
    leaves = sentence_leaves(source)
    growth = Growth.over(leaves, text)
    branches = binary(cut_splits(len(leaves), cut), range(len(leaves)), len(leaves))
    await growth.add([replace(branch, relation="") for branch in branches])
    return Built(growth.tree(name), growth.usage, tuple(growth.failures))


def cut_splits(n: int, cut: Cut) -> tuple[Split, ...]:
    """The splits of ``n`` units in pre-order, JOINT throughout."""
    splits: list[Split] = []
    spans = [(0, n)]
    while spans:
        start, end = spans.pop()
        if end - start > 1:
            mid = cut(start, end)
            splits.append(Split(start=start, mid=mid, end=end, relation=Relation.JOINT, nuclearity=Nuclearity.NN))
            spans += [(mid, end), (start, mid)]
    return tuple(splits)
