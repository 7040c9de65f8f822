"""Random retrieval trees and walks over them."""

from __future__ import annotations

from hypothesis import strategies as st

from discorag.retrieval.builders.base import inner
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree, derive
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span


@st.composite
def retrieval_trees(draw: st.DrawFn) -> RetrievalTree:
    """Any tree: several roots, single children, and nodes with several parents are possible."""
    leaves = draw(st.integers(1, 7))
    nodes = [RetrievalNode(text=f"leaf {i}", spans=(Span(start=2 * i, end=2 * i + 1),)) for i in range(leaves)]
    for number in range(draw(st.integers(0, 6))):
        children = draw(st.sets(st.integers(0, len(nodes) - 1), min_size=1, max_size=4))
        nodes.append(inner(nodes, sorted(children), f"heading {number}"))
    return RetrievalTree(builder="random", nodes=tuple(nodes))


@st.composite
def subtrees(draw: st.DrawFn) -> RetrievalSubtree:
    tree = draw(retrieval_trees())
    return derive(tree, draw(st.sets(st.integers(0, tree.leaves - 1), max_size=3)))


class AnyRouter:
    """Selects lit passages and unfolds headings, collapsed or not, as hypothesis draws them."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        self.shown: list[RetrievalSubtree] = []

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        self.shown.append(subtree)
        lit = st.lists(st.sampled_from(subtree.lit)) if subtree.lit else st.just([])
        headings = range(subtree.tree.leaves, len(subtree.tree.nodes))
        expand = st.none() | st.sampled_from(headings) if headings else st.none()
        return Decision(tuple(self._data.draw(lit)), self._data.draw(expand))
