"""One tree for all: the document's own headings and paragraphs, and RST, or halves, inside the paragraphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from discorag.discourse.parse.units import Parses
from discorag.retrieval.builder import Built, Source
from discorag.retrieval.builders.bisection import BisectionBuilder, cut_splits, halved
from discorag.retrieval.builders.discourse import DiscourseBuilder
from discorag.retrieval.builders.leaves import paragraph_leaves, sentence_leaves
from discorag.retrieval.builders.node_text import Branch, Growth, binary
from discorag.schema.hierarchy import Hierarchy, Kind


class UnifiedBuilder(DiscourseBuilder):
    """Document over sections over paragraphs, as many as there are; a binary RST tree over a paragraph's sentences.

    A section's heading is its first child, and the node carries it. What would be the only child of a node stands in
    the node's place.

    Args:
        parser: Joins the sentences of a paragraph.
        text: Of inner nodes.
        cache: Trees of earlier builds (`discorag.discourse.parse.units.Parses`); remembers nothing if not given.

    Source: RDR² section 3.1 (headings and passages) above DISRetrieval section 3.1, phase 1 (paragraphs).

    Example:
        >>> from discorag.discourse.parse.rules import RuleParser
        >>> from discorag.retrieval.builders.node_text import Concat
        >>> from discorag.retrieval.builders.unified import UnifiedBuilder
        >>> tree = asyncio.run(UnifiedBuilder(RuleParser(), Concat()).build(source)).tree
        >>> [node.heading or node.relation for node in tree.nodes[tree.leaves :]]
        ['RESULT', 'CONTRAST', 'Spring tides', 'Tides']
    """

    name = "unified"

    async def _join(self, growth: Growth, parses: Parses, source: Source, roots: list[int]) -> None:
        """The author's headings above the paragraphs' roots."""
        await growth.add(_sections(source.hierarchy, roots, len(growth.nodes)))


class ParagraphBuilder(BisectionBuilder):
    """`UnifiedBuilder`'s tree with halves of halves in the place of RST: what the author drew, and nothing is parsed.

    Windows that follow such a tree find as much evidence as windows along `UnifiedBuilder`'s (`docs/retrieval.md`).

    Args:
        text: Of inner nodes.

    Example:
        >>> from discorag.retrieval.builders.node_text import Concat
        >>> from discorag.retrieval.builders.unified import ParagraphBuilder
        >>> tree = asyncio.run(ParagraphBuilder(Concat()).build(source)).tree
        >>> [node.heading or node.children for node in tree.nodes[tree.leaves :]]
        [(1, 2), (4, 5), 'Spring tides', 'Tides']
    """

    name = "paragraphs"

    async def build(self, source: Source) -> Built:
        """A tree of one root over all sentences."""
        growth = Growth.over(sentence_leaves(source), self._text)
        branches, roots, first = list[Branch](), list[int](), len(growth.nodes)
        for group in paragraph_leaves(source):
            branches += binary(cut_splits(len(group), halved), group, first + len(branches))
            roots.append(first + len(branches) - 1 if len(group) > 1 else group[0])
        await growth.add([replace(branch, relation="") for branch in branches])
        await growth.add(_sections(source.hierarchy, roots, len(growth.nodes)))
        return Built(growth.tree(self.name), growth.usage, tuple(growth.failures))


def _sections(hierarchy: Hierarchy, roots: Sequence[int], first: int) -> list[Branch]:
    """The nodes above the paragraphs, whose roots are ``roots``; children before parents, the document last."""
    branches: list[Branch] = []
    paragraphs = iter(reversed(roots))
    below: defaultdict[int | None, list[int]] = defaultdict(list)  # nodes below each of the hierarchy's, last first
    for i, node in reversed(list(enumerate(hierarchy.nodes))):
        if node.kind is Kind.SENTENCE:
            continue
        children = [next(paragraphs)] if node.kind is Kind.PARAGRAPH else below[i][::-1]
        if len(children) > 1:
            below[node.parent].append(first + len(branches))
            branches.append(Branch(tuple(children), heading=node.heading))
        else:
            below[node.parent] += children
    return branches
