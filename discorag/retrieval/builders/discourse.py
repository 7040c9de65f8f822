"""RST trees over the sentences of each paragraph, and one over the paragraphs: DISRetrieval's tree."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from discorag.discourse.parse.units import Parses, Unit, UnitParser, marked
from discorag.retrieval.builder import Built, Source
from discorag.retrieval.builders.leaves import paragraph_leaves, sentence_leaves
from discorag.retrieval.builders.node_text import Branch, Growth, NodeText, binary
from discorag.schema.rst_tree import RstTree


@dataclass(frozen=True)
class DiscourseBuilt(Built):
    """A tree that was parsed.

    Args:
        parsed: Parses that it took: paragraphs of several sentences, and what lies above the paragraphs.
        reused: Parses that came from the cache instead.

    Example:
        >>> from discorag.discourse.parse.rules import RuleParser
        >>> from discorag.retrieval.builders.discourse import DiscourseBuilder
        >>> from discorag.retrieval.builders.node_text import Concat
        >>> built = asyncio.run(DiscourseBuilder(RuleParser(), Concat()).build(source))
        >>> built.parsed, built.reused
        (3, 0)
    """

    parsed: int = 0
    reused: int = 0


class DiscourseBuilder:
    """Parses every paragraph, then the texts of the paragraphs' roots, and puts the trees into one.

    A paragraph of one sentence is a leaf of the document's tree. With a cache, a document in which one paragraph
    changed takes two parses: of this paragraph and of what lies above the paragraphs.

    Args:
        parser: Joins sentences, then root texts.
        text: Of inner nodes; `Tau` is the paper's.
        cache: Trees of earlier builds (`discorag.discourse.parse.units.Parses`); remembers nothing if not given.

    Source: DISRetrieval section 3.1 (eq. 1 to 3), section 3.2, appendix C (eq. 10 and 11, algorithm 2).

    Example:
        >>> from discorag.discourse.parse.rules import RuleParser
        >>> from discorag.retrieval.builders.discourse import DiscourseBuilder
        >>> from discorag.retrieval.builders.node_text import Concat
        >>> tree = asyncio.run(DiscourseBuilder(RuleParser(), Concat()).build(source)).tree
        >>> tree.leaves, tree.nodes[-1].relation
        (6, 'JOINT')
    """

    name = "discourse"

    def __init__(
        self, parser: UnitParser, text: NodeText, *, cache: MutableMapping[str, RstTree] | None = None
    ) -> None:
        self._parser, self._text, self._cache = parser, text, cache

    @property
    def version(self) -> str:
        """With the parser's and the node text's."""
        return f"{self.name}-1/{marked(self._parser)}/{self._text.version}"

    async def build(self, source: Source) -> DiscourseBuilt:
        """A tree of one root over all sentences."""
        growth = Growth.over(sentence_leaves(source), self._text)
        parses = Parses(self._parser, {} if self._cache is None else self._cache)
        roots = await graft(growth, parses, paragraph_leaves(source), "sentence")
        await self._join(growth, parses, source, roots)
        return discourse_built(self.name, growth, parses)

    async def _join(self, growth: Growth, parses: Parses, source: Source, roots: list[int]) -> None:
        """One tree over the paragraphs' roots."""
        await graft(growth, parses, [roots], "paragraph")


async def graft(growth: Growth, parses: Parses, groups: Sequence[Sequence[int]], kind: Unit) -> list[int]:
    """Grow a parsed tree over each group of neighbouring nodes.

    All parses are made one after another in one thread: a trained parser takes one text at a time.

    Returns:
        The root over each group; of a group of one node, this node.
    """
    texts = [[growth.nodes[i].text for i in group] for group in groups]
    found = await asyncio.to_thread(lambda: [parses.splits(group, kind) for group in texts])
    branches, roots, first = list[Branch](), list[int](), len(growth.nodes)
    for splits, group in zip(found, groups, strict=True):
        branches += binary(splits, group, first + len(branches))
        roots.append(first + len(branches) - 1 if splits else group[0])
    await growth.add(branches)
    return roots


def discourse_built(name: str, growth: Growth, parses: Parses) -> DiscourseBuilt:
    """The result of a builder that parses."""
    tree = growth.tree(name)
    return DiscourseBuilt(tree, growth.usage, tuple(growth.failures), parsed=parses.parsed, reused=parses.reused)
