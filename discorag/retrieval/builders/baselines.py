"""DISRetrieval's baselines, which ignore what the text says: no tree, and halves of halves."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discorag.retrieval.builders.base import Built, Source, chunk_leaves, sentence_leaves, units_of
from discorag.retrieval.builders.node_text import Branch, Growth, NodeText, binary
from discorag.schema.discourse import Nuclearity, Relation, Split
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree

CHUNK_WORDS = 100
"""DISRetrieval section 4.1; RAPTOR has 100 tokens."""


@dataclass(frozen=True)
class FlatBuilder:
    """Leaves, and nothing above them."""

    name: str
    version: str
    leaves: Callable[[Source], Sequence[RetrievalNode]]

    async def build(self, source: Source) -> Built:
        """See `Builder.build`."""
        leaves = await asyncio.to_thread(self.leaves, source)
        return Built(RetrievalTree(builder=self.name, nodes=tuple(leaves)))


def _chunks(source: Source) -> list[RetrievalNode]:
    return chunk_leaves(source, units_of(source), words=CHUNK_WORDS)


FLAT_SENTENCES = FlatBuilder("flat-sentences", "flat-sentences-1", sentence_leaves)
FLAT_CHUNKS = FlatBuilder("flat-chunks", f"flat-chunks-1/{CHUNK_WORDS}", _chunks)
"""Whole sentences, up to `CHUNK_WORDS` words together."""


Cut = Callable[[int, int], int]
"""Where to cut units ``[start, end)``: the first unit of the right side."""


class BisectionBuilder:
    """The document's sentences, halved repeatedly; if the halves differ in size, the left one is larger."""

    name = "bisection"

    def __init__(self, text: NodeText) -> None:
        self._text = text
        self.version = f"{self.name}-1/{text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root over all sentences."""
        growth = Growth(list(await asyncio.to_thread(sentence_leaves, source)), self._text)
        await growth.add(await asyncio.to_thread(self.branches, source, len(growth.nodes)))
        return await growth.finish(self.name)

    def branches(self, source: Source, leaves: int) -> list[Branch]:
        """The nodes above the sentences, of which there are this many."""
        return binary(cut_splits(leaves, halve), range(leaves), leaves)


def halve(start: int, end: int) -> int:
    """Split a span in the middle."""
    return (start + end + 1) // 2


def cut_splits(n: int, cut: Cut) -> tuple[Split, ...]:
    """The splits of ``n`` units in pre-order, JOINT throughout."""
    splits: list[Split] = []
    spans = [(0, n)]
    while spans:
        start, end = spans.pop()
        if end - start > 1:
            mid = cut(start, end)
            splits.append(Split(start=start, mid=mid, end=end, relation=Relation.JOINT, nuclearity=Nuclearity.NN))
            spans += [(mid, end), (start, mid)]
    return tuple(splits)
