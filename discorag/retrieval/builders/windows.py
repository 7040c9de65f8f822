"""Contiguous windows, layer upon layer: RAPTOR's tree without its clusters."""

from __future__ import annotations

from collections.abc import Sequence

from discorag.retrieval.builder import Built, Source
from discorag.retrieval.builders.leaves import chunk_leaves
from discorag.retrieval.builders.node_text import Branch, Growth, NodeText
from discorag.schema.errors import ConfigError


class WindowBuilder:
    """Neighbouring nodes joined ``size`` at a time until there is one.

    A window that holds one node only leaves it to the next layer.

    Args:
        text: Of inner nodes.
        size: Nodes in a window, 2 or more.
        chunk_words: Words in a leaf, which is whole sentences; 1 makes every sentence a leaf.

    Raises:
        ConfigError: ``size`` is less than 2.

    Source: RAPTOR appendix B, table 9 ("recency-based tree", windows of 7 over chunks of 100 tokens).

    Example:
        >>> from discorag.retrieval.builders.node_text import Concat
        >>> from discorag.retrieval.builders.windows import WindowBuilder
        >>> tree = asyncio.run(WindowBuilder(Concat(), size=2, chunk_words=1).build(source)).tree
        >>> [node.children for node in tree.nodes[tree.leaves :]]
        [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    """

    name = "windows"

    def __init__(self, text: NodeText, *, size: int = 7, chunk_words: int = 100) -> None:
        if size < 2:
            raise ConfigError(f"Windows of {size} never come to one node.", hint="Choose a size of 2 or more.")
        self._text, self._size, self._words = text, size, chunk_words

    @property
    def version(self) -> str:
        """With its sizes and the node text's."""
        return f"windows-1/{self._size}/{self._words}/{self._text.version}"

    async def build(self, source: Source) -> Built:
        """A tree of one root."""
        leaves = chunk_leaves(source, self._words)
        growth = Growth.over(leaves, self._text)
        layer = list(range(len(leaves)))
        while len(layer) > 1:
            windows = [layer[i : i + self._size] for i in range(0, len(layer), self._size)]
            layer = await _joined(growth, windows)
        return Built(growth.tree(self.name), growth.usage, tuple(growth.failures))


async def _joined(growth: Growth, windows: Sequence[Sequence[int]]) -> list[int]:
    """The nodes of the next layer."""
    first = len(growth.nodes)
    await growth.add([Branch(tuple(window)) for window in windows if len(window) > 1])
    new = iter(range(first, len(growth.nodes)))
    return [next(new) if len(window) > 1 else window[0] for window in windows]
