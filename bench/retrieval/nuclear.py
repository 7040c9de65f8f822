"""Inner nodes that say the most nuclear sentences below them."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from discorag.trees.builder import Summary
from discorag.trees.builders.node_text import Branch, Texts
from discorag.trees.summarise import within
from discorag.types.words import count_words, first_words


@dataclass(frozen=True)
class Nuclear:
    """The most nuclear sentences below a node, in text order: those that promotion carries up to it first.

    Args:
        words: Budget; a first sentence that is longer is cut.

    Source: Marcu (2000), "The Theory and Practice of Discourse Parsing and Summarization".
    """

    words: int = 100

    @property
    def version(self) -> str:
        """The budget."""
        return f"nuclear-1/{self.words}"

    def start(self, leaves: Sequence[str]) -> Texts:
        """For a document with these leaves."""
        return _Nuclear(leaves, self.words)


class _Nuclear:
    """Each node keeps what fits the budget of its leaves, those under fewest satellite links first.

    That is enough for its parent, whose selection holds, of each child's leaves, a head of the child's selection.
    """

    def __init__(self, leaves: Sequence[str], words: int) -> None:
        self._leaves, self._words = leaves, words
        self._sizes = [count_words(text) for text in leaves]
        self._selected: list[list[tuple[int, int]]] = [[(0, i)] for i in range(len(leaves))]  # (links, leaf)

    async def add(self, branches: Sequence[Branch]) -> list[Summary]:
        return [Summary(self._text(branch)) for branch in branches]

    def _text(self, branch: Branch) -> str:
        below = ([(d + (c == branch.satellite), leaf) for d, leaf in self._selected[c]] for c in branch.children)
        ranked = list(heapq.merge(*below))
        selected = ranked[: within((self._sizes[leaf] for _, leaf in ranked), self._words)]
        self._selected.append(selected)
        return first_words((self._leaves[leaf] for leaf in sorted(leaf for _, leaf in selected)), self._words)
