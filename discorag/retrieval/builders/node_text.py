"""Inner nodes and the text they get: concatenated, or summarised by the tau rule."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from discorag.models.loops import raise_if_cancelled
from discorag.retrieval.builders.base import Built, inner
from discorag.retrieval.builders.summaries import Summariser, Summary
from discorag.schema.discourse import Split
from discorag.schema.errors import Usage
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import count_words, first_words

ENCODED_WORDS = 256
"""The encoder's window of 256 tokens cannot hold more words, since a word is a token or more."""


@dataclass(frozen=True)
class Branch:
    """An inner node before it has text; the fields are those of `RetrievalNode`, children in text order.

    ``sources`` are the nodes that its text stands for, if these are not its children.
    """

    children: tuple[int, ...]
    heading: str = ""
    sources: tuple[int, ...] = ()


def binary(splits: Sequence[Split], units: Sequence[int], first: int) -> list[Branch]:
    """The inner nodes of a binary tree, children before parents; ``splits`` are in pre-order.

    ``units`` are the nodes that are its leaves, in text order, ``first`` the index that the first branch will have.
    """
    at = {(i, i + 1): unit for i, unit in enumerate(units)}
    branches: list[Branch] = []
    for split in reversed(splits):
        children = at[split.start, split.mid], at[split.mid, split.end]
        at[split.start, split.end] = first + len(branches)
        branches.append(Branch(children))
    return branches


class NodeText(Protocol):
    """A way to give inner nodes their text."""

    @property
    def version(self) -> str:
        """Names everything that shapes the texts."""
        ...

    async def write(self, nodes: Sequence[RetrievalNode], branches: Sequence[Branch]) -> list[Summary]:
        """The text of each branch, in order. A branch may be above earlier ones, which are numbered after ``nodes``."""
        ...


class Concat:
    """All text below a node, cut at `ENCODED_WORDS`; uncut, the texts of a deep tree would take quadratic space."""

    version = f"concat-1/{ENCODED_WORDS}"

    async def write(self, nodes: Sequence[RetrievalNode], branches: Sequence[Branch]) -> list[Summary]:
        """See `NodeText.write`."""
        return await asyncio.to_thread(self._write, nodes, branches)

    def _write(self, nodes: Sequence[RetrievalNode], branches: Sequence[Branch]) -> list[Summary]:
        texts = [node.text for node in nodes]
        for branch in branches:
            raise_if_cancelled()
            texts.append(first_words((texts[c] for c in branch.children), ENCODED_WORDS))
        return [Summary(text) for text in texts[len(nodes) :]]


@dataclass(frozen=True)
class Tau:
    """The children's texts together if they have fewer than ``tau`` words, else a summary of ``words`` words.

    Summaries that do not need each other are made at the same time. With tau 0 every inner node has a summary, as in
    RAPTOR and HTSIR.

    Source: DISRetrieval eq. 2; section 4.1 has tau 0 for QASPER and 100 for QuALITY, appendix D 200 words.
    """

    summariser: Summariser
    tau: int = 100
    words: int = 200

    @property
    def version(self) -> str:
        """Limits and summariser."""
        return f"tau-1/{self.tau}/{self.words}/{self.summariser.version}"

    async def write(self, nodes: Sequence[RetrievalNode], branches: Sequence[Branch]) -> list[Summary]:
        """See `NodeText.write`."""
        tasks: list[asyncio.Task[Summary]] = []

        async def text_of(node: int) -> str:
            return nodes[node].text if node < len(nodes) else (await tasks[node - len(nodes)]).text

        async def write_one(branch: Branch) -> Summary:
            texts = [await text_of(node) for node in branch.sources or branch.children]
            if sum(map(count_words, texts)) < self.tau:
                return Summary(" ".join(texts))
            return await self.summariser.summarise(texts, words=self.words)

        tasks += [asyncio.create_task(write_one(branch)) for branch in branches]
        return await asyncio.gather(*tasks)


@dataclass
class Growth:
    """A tree while it is built: leaves first, then branch after branch; ``text`` gives inner nodes their text.

    ``gaps``: whether an inner node leaves out what lies between its children; see `inner`.
    """

    nodes: list[RetrievalNode]
    text: NodeText
    gaps: bool = False
    usage: Usage = field(default_factory=Usage)
    failures: list[str] = field(default_factory=list[str])

    async def add(self, branches: Sequence[Branch]) -> list[int]:
        """Make nodes of ``branches``, whose children are earlier nodes or branches; returns their indices."""
        first = len(self.nodes)
        await asyncio.to_thread(self._join, branches, await self.text.write(self.nodes, branches))
        return list(range(first, len(self.nodes)))

    def _join(self, branches: Sequence[Branch], summaries: Sequence[Summary]) -> None:
        for branch, summary in zip(branches, summaries, strict=True):
            raise_if_cancelled()
            heading, gaps = branch.heading, self.gaps
            self.nodes.append(inner(self.nodes, branch.children, summary.text, heading=heading, gaps=gaps))
            self.usage += summary.usage
            self.failures += [summary.failure] if summary.failure else []

    async def finish(self, builder: str) -> Built:
        """The finished tree, with what it cost."""
        tree = await asyncio.to_thread(RetrievalTree, builder=builder, nodes=tuple(self.nodes))
        return Built(tree, self.usage, tuple(self.failures))
