"""Control retrievers: they show what the shape of a tree, or a sentence's place in the text, is worth by itself.

`register_controls` adds:

* ``random-trees``: every span of sentences cut anywhere, chosen as from DISRetrieval's trees.
* ``right-branching``: every sentence joined to all that follow.
* ``unified``: the author's headings and paragraphs, RST trees inside paragraphs.
* ``snapped-random``: the author's headings and paragraphs, as in ``snapped``, and random trees inside paragraphs.
* ``snapped-rst``: the same with parsed RST trees inside paragraphs.
* ``slide``: all runs of 2, 4, 8 and 16 sentences.
* ``expand``: the best sentences with their neighbours.
* ``smoothed``: sentences scored with their neighbours.
* ``windows``: RAPTOR's baseline, from `eval.retrievers`.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from discorag.discourse.parse.parser import Unit, UnitParser, embedded_version, join_texts
from discorag.retrieval.builders.base import Builder, Built, Source, paragraph_leaves, sentence_leaves
from discorag.retrieval.builders.baselines import BisectionBuilder, Cut, cut_splits
from discorag.retrieval.builders.discourse import graft, section_branches
from discorag.retrieval.builders.node_text import Branch, Concat, Growth, binary
from discorag.retrieval.builders.tree_windows import TreeWindowBuilder, window_tree
from discorag.retrieval.registry import (
    RETRIEVERS,
    SelectedNodes,
    TreeQuery,
    TreeRetriever,
    TreeTools,
    register_retriever,
    tree_retrievers,
)
from discorag.retrieval.selectors import Floats, Ints, Nodes, leaf_ranking, within_budget
from discorag.schema.discourse import RstTree
from discorag.schema.values import digest
from discorag.store.outline import TreeArrays
from eval.retrievers import register_windows


def random_cut(seed: str) -> Cut:
    """Cuts every span anywhere with the same probability; the same seed always gives the same tree."""
    chance = random.Random(seed)
    return lambda start, end: chance.randrange(start + 1, end)


def right_branching_cut(_seed: str) -> Cut:
    """Cuts after the first unit."""
    return lambda start, _end: start + 1


class ShapedBuilder(BisectionBuilder):
    """A binary tree over all sentences of a document, cut from the root downwards without reading them.

    Args:
        name: The builder's.
        cut: Makes the cuts of one document; its argument is a digest of the document's text.
    """

    def __init__(self, name: str, cut: Callable[[str], Cut]) -> None:
        self.name, self._cut = name, cut
        super().__init__(Concat())

    def branches(self, source: Source, leaves: int) -> list[Branch]:
        """The n - 1 inner nodes over n sentences."""
        return binary(cut_splits(leaves, self._cut(source.document.content_hash)), range(leaves), leaves)


class RandomUnits:
    """A `discorag.discourse.parse.parser.UnitParser` with random trees; the same texts always get the same tree."""

    version = "random-1"

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The units joined by JOINT, every span cut anywhere with the same probability."""
        whole, units = join_texts(texts, kind)
        return RstTree(edus=units, splits=cut_splits(len(units), random_cut(digest(whole))))


@dataclass(frozen=True)
class SlideBuilder:
    """Every run of neighbouring sentences as long as one of ``widths``, each 2 or more, is a node above them."""

    widths: Sequence[int] = (2, 4, 8, 16)
    name: str = "slide"

    @property
    def version(self) -> str:
        """With the widths."""
        return f"slide-1/{'-'.join(map(str, self.widths))}"

    async def build(self, source: Source) -> Built:
        """Sentences, and the windows in the order of their widths."""
        leaves = sentence_leaves(source)
        runs = ((at, at + width) for width in self.widths for at in range(len(leaves) - width + 1))
        return Built(window_tree(leaves, runs, self.name))


def expand(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int, owners: Ints, *, radius: int = 2) -> Nodes:
    """EXPAND: the best leaf and its neighbours outward, then the next best leaf and its, until the budget.

    At each distance from 1 to ``radius`` the better-scored side goes first (the left one if they are equal). A leaf
    that came in as a neighbour still brings its own neighbours when its turn comes.

    Args:
        tree: The nodes; only the number of leaves is used.
        scores: Similarity to the query, shape ``(nodes,)``; only the leaves' are used.
        sizes: Words or tokens of each node, shape ``(nodes,)``.
        limit: Budget in the unit of ``sizes``; see `within_budget`.
        owners: For each leaf its document, shape ``(leaves,)``; leaves of two documents are not neighbours.
        radius: Neighbours on each side.
    """
    outward = (leaf for seed in leaf_ranking(scores[: tree.leaves]) for leaf in _outward(seed, scores, owners, radius))
    return tuple(sorted(within_budget(dict.fromkeys(outward), sizes, limit)))


def smoothed(tree: TreeArrays, scores: Floats, sizes: Ints, limit: int, owners: Ints, *, radius: int = 1) -> Nodes:
    """The best leaves by `smooth` scores. Arguments are those of `expand`."""
    parts = np.split(scores[: tree.leaves], np.flatnonzero(np.diff(owners)) + 1)
    order = leaf_ranking(np.concatenate([smooth(part, radius) for part in parts]))
    return tuple(sorted(within_budget(order, sizes, limit)))


def smooth(scores: Floats, radius: int) -> Floats:
    """For each leaf the mean score of the leaves at most ``radius`` away, itself among them, shape ``(leaves,)``."""
    view = np.lib.stride_tricks.sliding_window_view
    total = view(np.pad(scores, radius), 2 * radius + 1).sum(axis=1)
    return total / view(np.pad(np.ones(len(scores)), radius), 2 * radius + 1).sum(axis=1)


def _outward(seed: int, scores: Floats, owners: Ints, radius: int) -> Iterator[int]:
    yield seed
    for distance in range(1, radius + 1):
        sides = (leaf for leaf in (seed - distance, seed + distance) if 0 <= leaf < len(owners))
        yield from sorted((leaf for leaf in sides if owners[leaf] == owners[seed]), key=lambda leaf: -scores[leaf])


async def _select_with_neighbours(query: TreeQuery, selector: Callable[..., Nodes]) -> SelectedNodes:
    """By a selector that looks at neighbours, which are of the same document."""
    s = query.scores
    owners = s.forest.owners[: s.forest.tree.leaves]
    return SelectedNodes(selector(s.forest.tree, s.nodes, s.sizes, query.words, owners))


@dataclass(frozen=True)
class UnifiedBuilder:
    """The author's headings and paragraphs over a binary tree of the parser's over each paragraph's sentences."""

    parser: UnitParser
    name: str = "unified"

    @property
    def version(self) -> str:
        """With the parser's."""
        return f"{self.name}-1/{embedded_version(self.parser)}/{Concat().version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root over all sentences."""
        growth = Growth(list(sentence_leaves(source)), Concat())
        roots = await graft(growth, self.parser, paragraph_leaves(source), "sentence")
        await growth.add(section_branches(source.hierarchy, roots, len(growth.nodes)))
        return await growth.finish(self.name)


def register_controls() -> None:
    """Add the controls to the product's retrievers, once in a process."""
    if "random-trees" in RETRIEVERS:
        return
    retrievers = tree_retrievers()
    trees, windows = replace(retrievers["bisection"], summaries=False), retrievers["snapped"]
    builders: dict[str, tuple[TreeRetriever, Callable[[TreeTools], Builder], str]] = {
        "random-trees": (
            trees,
            lambda _: ShapedBuilder("random-trees", random_cut),
            "trees that know nothing of the text",
        ),
        "right-branching": (
            trees,
            lambda _: ShapedBuilder("right-branching", right_branching_cut),
            "trees that know nothing of the text",
        ),
        "snapped-random": (
            windows,
            lambda _: TreeWindowBuilder(UnifiedBuilder(RandomUnits())),
            "snapped with other trees inside paragraphs",
        ),
        "snapped-rst": (
            windows,
            lambda tools: TreeWindowBuilder(UnifiedBuilder(tools.parser)),
            "snapped with other trees inside paragraphs",
        ),
        "unified": (
            trees,
            lambda tools: UnifiedBuilder(tools.parser),
            "headings and paragraphs, RST inside paragraphs",
        ),
        "slide": (windows, lambda _: SlideBuilder(), "all runs of 2, 4, 8 and 16 sentences"),
    }
    for name, (base, build, help) in builders.items():
        register_retriever(name, replace(base, builder=name, build=build), help=f"a control: {help}")
    register_windows()
    for name, selector, help in (
        ("expand", expand, "a control: the best sentences with their neighbours"),
        ("smoothed", smoothed, "a control: sentences scored with their neighbours"),
    ):
        control = replace(retrievers["sentences"], choose=partial(_select_with_neighbours, selector=selector))
        register_retriever(name, control, help=help)
