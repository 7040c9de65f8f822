"""Trees that follow the discourse: DISRetrieval's, and those that put the author's headings above paragraphs."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from discorag.discourse.parse.parser import Unit, UnitParser, embedded_version
from discorag.models.loops import raise_if_cancelled
from discorag.retrieval.builders.base import Built, Source, paragraph_leaves, sentence_leaves
from discorag.retrieval.builders.baselines import BisectionBuilder, cut_splits, halve
from discorag.retrieval.builders.node_text import Branch, Growth, NodeText, binary
from discorag.schema.discourse import Split
from discorag.schema.document import Hierarchy, Kind


class DiscourseBuilder:
    """Parses every paragraph, then the texts of the paragraphs' roots, and joins the trees into one.

    A paragraph of one sentence is a leaf of the document's tree. The paper's node text is `Tau`.

    Source: DISRetrieval section 3.1 (eq. 1 to 3), section 3.2, appendix C (eq. 10 and 11, algorithm 2).
    """

    name = "discourse"

    def __init__(self, parser: UnitParser, text: NodeText) -> None:
        self._parser, self._text = parser, text
        self.version = f"{self.name}-1/{embedded_version(parser)}/{text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root over all sentences."""
        growth = Growth(list(await asyncio.to_thread(sentence_leaves, source)), self._text)
        roots = await graft(growth, self._parser, paragraph_leaves(source), "sentence")
        await graft(growth, self._parser, [roots], "paragraph")
        return await growth.finish(self.name)


async def graft(growth: Growth, parser: UnitParser, groups: Sequence[Sequence[int]], kind: Unit) -> list[int]:
    """Build a parsed tree over each group of neighbouring nodes.

    All texts are parsed one after another in one thread: a trained parser takes one at a time.

    Returns:
        The root over each group; for a group of one node, this node.
    """

    def splits() -> Iterator[Sequence[Split]]:
        for group in groups:
            raise_if_cancelled()
            texts = [growth.nodes[i].text for i in group]
            yield parser.parse_units(texts, kind).splits if len(texts) > 1 else ()

    branches, roots = await asyncio.to_thread(lambda: _branches_over(splits(), groups, len(growth.nodes)))
    await growth.add(branches)
    return roots


def _branches_over(
    splits: Iterable[Sequence[Split]], groups: Sequence[Sequence[int]], first: int
) -> tuple[list[Branch], list[int]]:
    """The branches over all groups, numbered from ``first`` on, and the root over each group."""
    branches, roots = list[Branch](), list[int]()
    for found, group in zip(splits, groups, strict=True):
        branches += binary(found, group, first + len(branches))
        roots.append(first + len(branches) - 1 if found else group[0])
    return branches, roots


class ParagraphBuilder(BisectionBuilder):
    """The document's sections and paragraphs; each paragraph's sentences are halved repeatedly.

    A section's heading is its first child, and the node carries it. A node with a single child is replaced by the
    child. RST trees inside paragraphs find no more evidence (`docs/retrieval.md`).
    """

    name = "paragraphs"

    def branches(self, source: Source, leaves: int) -> list[Branch]:
        """The nodes of every paragraph's halves, then those above the paragraphs."""
        groups = paragraph_leaves(source)
        halves, roots = _branches_over((cut_splits(len(group), halve) for group in groups), groups, leaves)
        return halves + section_branches(source.hierarchy, roots, leaves + len(halves))


def section_branches(hierarchy: Hierarchy, roots: Sequence[int], first: int) -> list[Branch]:
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
