"""Inner nodes over neighbours, and two ways to give them text: concatenated, or by the tau rule."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol

from discorag.retrieval.builder import Summariser, Summary
from discorag.retrieval.builders.leaves import around
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.rst_relations import Nuclearity
from discorag.schema.rst_tree import Split
from discorag.schema.usage import Usage
from discorag.schema.words import count_words, first_words

ENCODED_WORDS = 256
"""A word is a token or more, so of a text's further words the encoder's window of 256 tokens holds none."""


@dataclass(frozen=True)
class Branch:
    """An inner node before it has text.

    Args:
        children: Indices of the neighbouring nodes that it joins, in text order.
        satellite: The child that only supports the other; None if all are nuclei.
        relation: As in `RetrievalNode`.
        heading: As in `RetrievalNode`.

    Example:
        >>> from discorag.retrieval.builders.node_text import Branch
        >>> Branch(children=(0, 1), satellite=1, relation="CAUSE").heading
        ''
    """

    children: tuple[int, ...]
    satellite: int | None = None
    relation: str = ""
    heading: str = ""


def binary(splits: Sequence[Split], units: Sequence[int], first: int) -> list[Branch]:
    """The inner nodes of a binary tree, children before parents.

    Args:
        splits: In pre-order.
        units: The nodes that are its leaves, in text order.
        first: Index that the first of the branches will have among the nodes.
    """
    at = {(i, i + 1): unit for i, unit in enumerate(units)}
    branches: list[Branch] = []
    for split in reversed(splits):
        left, right = at[split.start, split.mid], at[split.mid, split.end]
        at[split.start, split.end] = first + len(branches)
        satellite = {Nuclearity.NS: right, Nuclearity.SN: left, Nuclearity.NN: None}[split.nuclearity]
        branches.append(Branch((left, right), satellite, split.relation))
    return branches


class Texts(Protocol):
    """The texts of one document's nodes while they are made."""

    async def add(self, branches: Sequence[Branch]) -> list[Summary]:
        """The text of each, in order; children are earlier nodes, those added before or earlier branches."""
        ...


class NodeText(Protocol):
    """A way to give inner nodes their text."""

    @property
    def version(self) -> str:
        """Everything that shapes the texts."""
        ...

    def start(self, leaves: Sequence[str]) -> Texts:
        """For a document with these leaves."""
        ...


@dataclass(frozen=True)
class Concat:
    """All text below a node, as far as the encoder reads it.

    Args:
        words: Where a text is cut; without it, texts of a deep tree would take quadratic space.

    Example:
        >>> from discorag.retrieval.builders.node_text import Branch, Concat
        >>> texts = Concat(words=4).start(["Tides rise daily.", "They fall."])
        >>> asyncio.run(texts.add([Branch((0, 1))]))[0].text
        'Tides rise daily. They'
    """

    words: int = ENCODED_WORDS

    @property
    def version(self) -> str:
        """The limit."""
        return f"concat-1/{self.words}"

    def start(self, leaves: Sequence[str]) -> Texts:
        """For a document with these leaves."""
        return _Concat(list(leaves), self.words)


@dataclass(frozen=True)
class Tau:
    """The children's texts together if they are short, else a summary of them, under the heading if there is one.

    Args:
        summariser: Makes the summaries; those of one layer at the same time.
        tau: From how many words of the children's texts together on there is a summary.
        words: Of a summary.

    Source: DISRetrieval eq. 2; section 4.1 has tau 0 for QASPER and 100 for QuALITY, appendix D 200 words.

    Example:
        >>> from discorag.retrieval.builders.node_text import Branch, Tau
        >>> from discorag.retrieval.summarise import ExtractiveSummariser
        >>> texts = Tau(ExtractiveSummariser(), tau=4, words=3).start(["Tides rise daily.", "They fall."])
        >>> asyncio.run(texts.add([Branch((0, 1))]))[0].text
        'Tides rise daily.'
    """

    summariser: Summariser
    tau: int = 100
    words: int = 200

    @property
    def version(self) -> str:
        """Limits and summariser."""
        return f"tau-1/{self.tau}/{self.words}/{self.summariser.version}"

    def start(self, leaves: Sequence[str]) -> Texts:
        """For a document with these leaves."""
        return _Tau(self, leaves)


@dataclass
class _Concat:
    texts: list[str]
    words: int

    async def add(self, branches: Sequence[Branch]) -> list[Summary]:
        first = len(self.texts)
        for branch in branches:
            self.texts.append(first_words((self.texts[c] for c in branch.children), self.words))
        return [Summary(text) for text in self.texts[first:]]


class _Tau:
    def __init__(self, rule: Tau, leaves: Sequence[str]) -> None:
        self._rule = rule
        self._texts, self._layers = list(leaves), [0] * len(leaves)

    async def add(self, branches: Sequence[Branch]) -> list[Summary]:
        first = len(self._texts)
        for branch in branches:
            self._layers.append(1 + max(self._layers[c] for c in branch.children))
        made = [Summary("")] * len(branches)
        self._texts += [""] * len(branches)
        order = sorted(range(len(branches)), key=lambda i: self._layers[first + i])
        for _, group in groupby(order, key=lambda i: self._layers[first + i]):
            layer = list(group)
            for i, summary in zip(layer, await asyncio.gather(*(self._one(branches[i]) for i in layer)), strict=True):
                made[i], self._texts[first + i] = summary, summary.text
        return made

    async def _one(self, branch: Branch) -> Summary:
        texts = [self._texts[c] for c in branch.children]
        if sum(map(count_words, texts)) < self._rule.tau:
            return Summary(" ".join(texts))
        made = await self._rule.summariser.summarise(texts, words=self._rule.words)
        text = f"{branch.heading}\n{made.text}" if branch.heading else made.text
        return Summary(text, made.usage, made.failure)


@dataclass
class Growth:
    """A tree while it is built: leaves first, then branch after branch.

    Args:
        nodes: The leaves, at the start.
        texts: Of the nodes above them.

    Example:
        >>> from discorag.retrieval.builders.node_text import Branch, Concat, Growth
        >>> growth = Growth.over(tree.nodes[: tree.leaves], Concat())
        >>> asyncio.run(growth.add([Branch((0, 1))]))
        >>> growth.tree("by hand").roots
        (2,)
    """

    nodes: list[RetrievalNode]
    texts: Texts
    usage: Usage = field(default_factory=Usage)
    failures: list[str] = field(default_factory=list[str])

    @classmethod
    def over(cls, leaves: Sequence[RetrievalNode], text: NodeText) -> Growth:
        """Nothing but leaves yet."""
        return cls(list(leaves), text.start([leaf.text for leaf in leaves]))

    async def add(self, branches: Sequence[Branch]) -> None:
        """Nodes for ``branches``, each with one span that covers all of its children."""
        for branch, summary in zip(branches, await self.texts.add(branches), strict=True):
            self.nodes.append(_node([self.nodes[c] for c in branch.children], branch, summary.text))
            self.usage += summary.usage
            self.failures += [summary.failure] if summary.failure else []

    def tree(self, builder: str) -> RetrievalTree:
        """The tree as far as it has grown."""
        return RetrievalTree(builder=builder, nodes=tuple(self.nodes))


def _node(children: Sequence[RetrievalNode], branch: Branch, text: str) -> RetrievalNode:
    return RetrievalNode(
        text=text,
        spans=(around(children),),
        children=tuple(sorted(branch.children)),
        layer=1 + max(child.layer for child in children),
        heading=branch.heading,
        relation=branch.relation,
    )
