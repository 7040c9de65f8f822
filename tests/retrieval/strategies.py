"""Retrieval trees for tests: by hand, and any."""

from collections.abc import Sequence
from itertools import cycle, islice

from hypothesis import strategies as st

from discorag.retrieval.builders.base import inner
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span
from tests.strategies import span_sequences


def small_tree(leaves: int, *groups: Sequence[int]) -> RetrievalTree:
    """A tree over that many leaves of one character; each group holds the children of one inner node."""
    nodes = _leaves([Span(start=2 * i, end=2 * i + 1) for i in range(leaves)])
    for group in groups:
        nodes.append(inner(nodes, group, f"about {group}"))
    return RetrievalTree(builder="test", nodes=tuple(nodes))


def leaves_of(tree: RetrievalTree) -> list[tuple[int, ...]]:
    """For each node the leaves at or below it, in text order."""
    below: list[tuple[int, ...]] = []
    for i, node in enumerate(tree.nodes):
        below.append(tuple(sorted({leaf for c in node.children for leaf in below[c]})) or (i,))
    return below


@st.composite
def retrieval_trees(draw: st.DrawFn) -> RetrievalTree:
    """Any tree that a builder may make: nodes may share children, and need not be adjacent."""
    nodes = _leaves(draw(span_sequences()))
    for _ in range(draw(st.integers(0, 8))):
        children = draw(st.sets(st.sampled_from(range(len(nodes))), min_size=1, max_size=5))
        nodes.append(inner(nodes, sorted(children), f"node {len(nodes)}"))
    return RetrievalTree(builder="test", nodes=tuple(nodes))


def _leaves(spans: Sequence[Span]) -> list[RetrievalNode]:
    letters = cycle("abcdefghijklmnopqrstuvwxyz")
    return [RetrievalNode(text="".join(islice(letters, span.end - span.start)), spans=(span,)) for span in spans]
