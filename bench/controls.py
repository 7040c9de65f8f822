"""Control retrievers, whose trees ignore the text: they show what the shape of a tree alone is worth.

`register_controls` adds:

* ``random-trees``: every span of sentences cut anywhere, chosen as from DISRetrieval's trees.
* ``right-branching``: every sentence joined to all that follow.
* ``snapped-random``: the author's headings and paragraphs, as in ``snapped``, and random trees inside paragraphs.
* ``snapped-rst``: the same with parsed RST trees inside paragraphs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from discorag.discourse.parse.units import Unit, joined
from discorag.retrieval.builder import Builder, Built, Source
from discorag.retrieval.builders.bisection import Cut, built_by, cut_splits
from discorag.retrieval.builders.node_text import Concat, NodeText
from discorag.retrieval.builders.slide import SnappedBuilder
from discorag.retrieval.builders.unified import UnifiedBuilder
from discorag.retrieval.registry import RETRIEVERS, TreeTools, register_retriever
from discorag.schema.ids import digest
from discorag.schema.rst_tree import RstTree


def random_cut(seed: str) -> Cut:
    """Cuts every span anywhere with the same probability; the same seed always gives the same tree."""
    chance = random.Random(seed)
    return lambda start, end: chance.randrange(start + 1, end)


def right_branching_cut(_seed: str) -> Cut:
    """Cuts after the first unit."""
    return lambda start, _end: start + 1


@dataclass(frozen=True)
class ShapedBuilder:
    """A binary tree over all sentences of a document, cut from the root downwards without reading them.

    Args:
        name: The builder's.
        cut: Makes the cuts of one document; its argument is a digest of the document's text.
        text: Of inner nodes.
    """

    name: str
    cut: Callable[[str], Cut]
    text: NodeText

    def for_tools(self, _: TreeTools) -> Builder:
        """Itself, whatever the pipeline has."""
        return self

    @property
    def version(self) -> str:
        """Name and node text."""
        return f"{self.name}-1/{self.text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of n leaves and n - 1 inner nodes over n sentences."""
        return await built_by(self.name, source, self.text, self.cut(source.document.content_hash))


class RandomUnits:
    """A `discorag.discourse.parse.units.UnitParser` whose trees are random; the same texts always get the same tree."""

    version = "random-1"

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The units joined by JOINT, every span cut anywhere with the same probability."""
        whole, units = joined(texts, kind)
        return RstTree(edus=units, splits=cut_splits(len(units), random_cut(digest(whole))))


def register_controls() -> None:
    """Add the controls to the product's retrievers, once in a process."""
    if "random-trees" in RETRIEVERS:
        return
    trees, windows = RETRIEVERS["bisection"], RETRIEVERS["snapped"]
    for name, cut in {"random-trees": random_cut, "right-branching": right_branching_cut}.items():
        builder = ShapedBuilder(name, cut, Concat())
        control = replace(trees, builder=name, build=builder.for_tools, summaries=False)
        register_retriever(name, control, help="a control: trees that know nothing of the text")
    for name, build in {"snapped-random": _snapped_random, "snapped-rst": _snapped_rst}.items():
        control = replace(windows, builder=name, build=build)
        register_retriever(name, control, help="a control: snapped with other trees inside paragraphs")


def _snapped_random(_: TreeTools) -> SnappedBuilder:
    return SnappedBuilder(UnifiedBuilder(RandomUnits(), Concat()))


def _snapped_rst(tools: TreeTools) -> SnappedBuilder:
    return SnappedBuilder(UnifiedBuilder(tools.parser, Concat(), cache=tools.parses))
