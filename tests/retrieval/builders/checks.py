"""Documents for builders, and what holds for every tree of neighbours."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from hypothesis import strategies as st

from discorag.discourse.parse.parser import Unit, join_texts
from discorag.ingest.segment.headings import build_hierarchy
from discorag.retrieval.builders.base import Source
from discorag.retrieval.builders.baselines import cut_splits
from discorag.retrieval.forest import Forest
from discorag.schema.discourse import Nuclearity, Relation, RstTree
from discorag.schema.document import Document, Kind, Markup
from discorag.schema.retrieval_tree import RetrievalTree
from discorag.store.outline import TreeArrays
from tests.retrieval.strategies import leaves_of

_SENTENCES = (
    "Iron rusts.", "However, gold does not.", "For example, a ring stays bright.", "因此金不会生锈。", "\u200b",
    "A & B < C | D.", "Was it wet? It was.", "x", "🧪 works!",
)  # fmt: skip
_paragraphs = st.lists(st.sampled_from(_SENTENCES), min_size=1, max_size=6).map(" ".join)
_headings = st.integers(1, 3).map(lambda level: "#" * level + " Part")
_tables = st.just("| a | b |\n|---|---|\n| 1 | 2 |")


class RightBranchingUnits:
    """Every unit joined to all that follow by JOINT."""

    version = "right-branching"

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        _, units = join_texts(texts, kind)
        return RstTree(edus=units, splits=cut_splits(len(units), lambda start, _: start + 1))


class LastNuclear:
    """Every unit is a satellite of all that follow: the last is the most nuclear, the others are equal."""

    version = "last-nuclear"

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        tree = RightBranchingUnits().parse_units(texts, kind)
        label = {"relation": Relation.BACKGROUND, "nuclearity": Nuclearity.SN}
        return RstTree(edus=tree.edus, splits=tuple(s.model_copy(update=label) for s in tree.splits))


def source_of(text: str) -> Source:
    document = Document(uri="d.md", title="d", text=text, markup=Markup.INLINE)
    return Source(document, build_hierarchy(document))


sources = (
    st.lists(st.one_of(_paragraphs, _paragraphs, _headings, _tables), min_size=1, max_size=8)
    .map("\n\n".join)
    .map(source_of)
)
"""Markdown with headings, paragraphs and tables, in two languages."""


def joined(trees: Mapping[str, RetrievalTree]) -> Forest:
    """The trees of several documents as one."""
    return Forest({doc_id: TreeArrays.of(tree) for doc_id, tree in trees.items()}, trees)


def checked(source: Source, tree: RetrievalTree) -> RetrievalTree:
    """``tree``, after checking that it is one tree whose leaves are the sentences."""
    leaves = tree.nodes[: tree.leaves]
    assert [leaf.spans for leaf in leaves] == [(n.span,) for _, n in source.hierarchy.of_kind(Kind.SENTENCE)]
    assert all(leaf.text == leaf.spans[0].of(source.document.text) for leaf in leaves)
    assert all(len(node.spans) == 1 for node in tree.nodes)
    assert [len(parents) for parents in tree.parents].count(0) == 1
    assert max(map(len, tree.parents)) <= 1
    for node in tree.nodes[tree.leaves :]:
        below = sorted((tree.nodes[c].spans[0] for c in node.children), key=lambda s: s.start)
        assert len(below) > 1
        assert (node.spans[0].start, node.spans[0].end) == (below[0].start, below[-1].end)
        assert all(a.end <= b.start for a, b in pairwise(below))
    return tree


def below(tree: RetrievalTree) -> set[tuple[int, ...]]:
    """The leaves below each inner node."""
    return set(leaves_of(tree)[tree.leaves :])
