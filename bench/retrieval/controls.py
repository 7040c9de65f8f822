"""Trees that know nothing of the text, to tell what a discourse tree's shape is worth."""

from __future__ import annotations

import random
from collections.abc import Sequence

from discorag.rst.units import Unit, joined
from discorag.trees.builder import Built, Source
from discorag.trees.builders.bisection import built_by, cut_splits
from discorag.trees.builders.node_text import NodeText
from discorag.types.ids import digest
from discorag.types.rst_tree import RstTree


class RandomBranchingBuilder:
    """A binary tree over all sentences, every span cut anywhere with the same probability.

    The same document content always gets the same tree.

    Args:
        text: Of inner nodes.
    """

    name = "random"

    def __init__(self, text: NodeText) -> None:
        self._text = text

    @property
    def version(self) -> str:
        """With the node text's."""
        return f"random-1/{self._text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root and n - 1 inner nodes over n sentences."""
        chance = random.Random(source.document.content_hash)
        return await built_by(self.name, source, self._text, lambda start, end: chance.randrange(start + 1, end))


class RightBranchingBuilder:
    """Every sentence joined to all that follows.

    Args:
        text: Of inner nodes.
    """

    name = "right-branching"

    def __init__(self, text: NodeText) -> None:
        self._text = text

    @property
    def version(self) -> str:
        """With the node text's."""
        return f"right-branching-1/{self._text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root and n - 1 inner nodes over n sentences."""
        return await built_by(self.name, source, self._text, lambda start, _: start + 1)


class RightBranchingUnits:
    """The same as a `UnitParser`: what a discourse builder makes of a document without any parser."""

    version = "right-branching-1"

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """Every unit joined to all that follow by JOINT."""
        _, units = joined(texts, kind)
        return RstTree(edus=units, splits=cut_splits(len(units), lambda start, _: start + 1))


class RandomUnits:
    """Random trees as a `UnitParser`: what the borders that a discourse builder keeps are worth without a parser.

    The same texts always get the same tree.
    """

    version = "random-1"

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """Units joined by JOINT, every span cut anywhere with the same probability."""
        whole, units = joined(texts, kind)
        chance = random.Random(digest(whole))
        return RstTree(edus=units, splits=cut_splits(len(units), lambda start, end: chance.randrange(start + 1, end)))
