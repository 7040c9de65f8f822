"""No tree at all: the baselines Flatten-sentence and Flatten-chunk (DISRetrieval section 4.1)."""

from __future__ import annotations

from discorag.retrieval.builder import Built, Source
from discorag.retrieval.builders.leaves import chunk_leaves, sentence_leaves
from discorag.schema.retrieval_tree import RetrievalTree


class FlatSentenceBuilder:
    """Sentences, and nothing above them.

    Example:
        >>> from discorag.retrieval.builders.flat import FlatSentenceBuilder
        >>> [node.text for node in asyncio.run(FlatSentenceBuilder().build(source)).tree.nodes[:2]]
        ['# Tides', 'The moon pulls the sea.']
    """

    name = "flat-sentences"
    version = "flat-sentences-1"

    async def build(self, source: Source) -> Built:
        """Leaves only."""
        return Built(RetrievalTree(builder=self.name, nodes=sentence_leaves(source)))


class FlatChunkBuilder:
    """Whole sentences up to ``words`` words together, and nothing above them.

    Example:
        >>> from discorag.retrieval.builders.flat import FlatChunkBuilder
        >>> [len(node.text.split()) for node in asyncio.run(FlatChunkBuilder(words=12).build(source)).tree.nodes]
        [7, 9, 6, 7]
    """

    name = "flat-chunks"

    def __init__(self, words: int = 100) -> None:
        self._words = words

    @property
    def version(self) -> str:
        """With the size."""
        return f"flat-chunks-1/{self._words}"

    async def build(self, source: Source) -> Built:
        """Leaves only."""
        return Built(RetrievalTree(builder=self.name, nodes=chunk_leaves(source, self._words)))
