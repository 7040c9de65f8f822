"""Random walks over retrieval trees."""

from __future__ import annotations

from hypothesis import strategies as st

from discorag.retrieval.routers.walk import Decision, RetrievalSubtree, derive
from tests.retrieval.strategies import retrieval_trees


@st.composite
def subtrees(draw: st.DrawFn) -> RetrievalSubtree:
    tree = draw(retrieval_trees(max_leaves=7))
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
