"""Retrieval trees for tests: by hand, and any."""

from __future__ import annotations

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


@st.composite
def ordered_trees(draw: st.DrawFn, *, max_leaves: int = 12) -> RetrievalTree:
    """A tree of the strict kind: one parent at most, every node a run of adjacent leaves; one root or several."""
    nodes = _leaves(draw(span_sequences(max_size=max_leaves)))
    tops = list(range(len(nodes)))
    for _ in range(draw(st.integers(0, len(nodes)))):
        start = draw(st.integers(0, len(tops) - 1))
        end = draw(st.integers(start + 1, len(tops)))
        nodes.append(inner(nodes, tops[start:end], f"node {len(nodes)}"))
        tops[start:end] = [len(nodes) - 1]
    return RetrievalTree(builder="test", nodes=tuple(nodes))


@st.composite
def cluster_trees(draw: st.DrawFn, *, max_leaves: int = 12) -> RetrievalTree:
    """A tree of soft clusters: nodes of one layer may share children, and need not be adjacent."""
    nodes = _leaves(draw(span_sequences(max_size=max_leaves)))
    layer = list(range(len(nodes)))
    for _ in range(draw(st.integers(0, 3))):
        clusters = draw(st.lists(st.sets(st.sampled_from(layer), min_size=1), min_size=1, max_size=3))
        layer = list(range(len(nodes), len(nodes) + len(clusters)))
        nodes.extend([inner(nodes, sorted(cluster), "cluster") for cluster in clusters])
    return RetrievalTree(builder="test", nodes=tuple(nodes))


def retrieval_trees(*, max_leaves: int = 12) -> st.SearchStrategy[RetrievalTree]:
    """Any tree that a builder may make."""
    return st.one_of(ordered_trees(max_leaves=max_leaves), cluster_trees(max_leaves=max_leaves))


def _leaves(spans: Sequence[Span]) -> list[RetrievalNode]:
    letters = cycle("abcdefghijklmnopqrstuvwxyz")
    return [RetrievalNode(text="".join(islice(letters, span.end - span.start)), spans=(span,)) for span in spans]
