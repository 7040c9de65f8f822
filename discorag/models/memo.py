"""An encoder that remembers: the stages of one query look at the same sentences again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache

from discorag.models.protocol import Encoder
from discorag.text.tokens import TokenCounter
from discorag.types.vectors import Vectors

QUESTIONS = 16
"""Questions remembered: those under way, each of which four stages look at."""


class MemoEncoder:
    """Wraps an encoder with a least-recently-used memory of document vectors, and of the last few questions'.

    Args:
        encoder: The encoder that does the work.
        size: Texts remembered; at 384 dimensions 1.5 kB each.

    Example:
        >>> from discorag.models.memo import MemoEncoder
        >>> remembering = MemoEncoder(encoder, size=100)
        >>> first, again = (asyncio.run(remembering.encode_documents(["Tides rise."])) for _ in range(2))
        >>> bool((first == again).all())
        True
    """

    def __init__(self, encoder: Encoder, *, size: int = 4096) -> None:
        self._encoder = encoder
        self._memory: LRUCache[str, Vectors] = LRUCache(size)
        self._questions: LRUCache[str, Vectors] = LRUCache(QUESTIONS)

    @property
    def version(self) -> str:
        """The wrapped encoder's version."""
        return self._encoder.version

    @property
    def tokens(self) -> TokenCounter:
        """The wrapped encoder's tokenizer."""
        return self._encoder.tokens

    @property
    def dimension(self) -> int:
        """The wrapped encoder's dimension."""
        return self._encoder.dimension

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d); only texts not remembered are encoded, each once."""
        known = {t: self._memory[t] for t in dict.fromkeys(texts) if t in self._memory}
        missing = [t for t in dict.fromkeys(texts) if t not in known]
        if missing:
            known.update(zip(missing, await self._encoder.encode_documents(missing), strict=True))
        self._memory.update(known)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([known[t] for t in texts])

    async def encode_query(self, text: str) -> Vectors:
        """The wrapped encoder's query vector, shape (d,)."""
        known = self._questions.get(text)
        if known is None:
            known = self._questions[text] = await self._encoder.encode_query(text)
        return known
