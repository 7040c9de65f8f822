"""What all encoders have in common: prefixes, the check of lengths, one batch at a time, and the version."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discorag.models.loops import FairLock
from discorag.models.tokens import FastTokens
from discorag.schema.errors import DiscoRagError, InvariantError, QueryError
from discorag.schema.ids import digest
from discorag.schema.vectors import Vectors


@dataclass(frozen=True)
class Prefixes:
    """Texts that an encoder puts before queries and passages; some models were trained with them.

    Example:
        >>> from discorag.models.base_encoder import Prefixes
        >>> Prefixes("query: ", "passage: ").version != Prefixes().version == ""
        True
    """

    query: str = ""
    passage: str = ""

    @property
    def version(self) -> str:
        """What is appended to an encoder's version: a digest, or nothing where there are no prefixes."""
        both = f"{self.query}\n{self.passage}"
        return f"/{digest(both)[:8]}" if both.strip("\n") else ""

    def less(self, tokens: FastTokens) -> FastTokens:
        """Return the tokenizer with the window that the longer prefix leaves."""
        if not self.query and not self.passage:
            return tokens
        return tokens.less(max(tokens.counts([self.query, self.passage])) - tokens.special_tokens)


class BaseEncoder(ABC):
    """An `Encoder`: subclasses say how texts become vectors.

    Args:
        version: Model, revision and window.
        tokens: The model's tokenizer; its window is what prefixes leave.
        dimension: Length d of a vector.
        prefixes: Put before texts.

    Example:
        >>> from discorag.models.base_encoder import BaseEncoder
        >>> isinstance(minilm, BaseEncoder)
        True
    """

    def __init__(self, version: str, tokens: FastTokens, dimension: int, prefixes: Prefixes) -> None:
        self._version, self._tokens, self._dimension, self._prefixes = version, tokens, dimension, prefixes

    @property
    def version(self) -> str:
        """Model, revision, window, and a digest of the prefixes where there are any."""
        return self._version + self._prefixes.version

    @property
    def tokens(self) -> FastTokens:
        """Its tokenizer; works without torch."""
        return self._tokens

    @property
    def dimension(self) -> int:
        """Length d of a vector."""
        return self._dimension

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), d), float32.

        Raises:
            InvariantError: A text is longer than the window of a model in this process, which would cut it silently.
            ModelError: An endpoint failed, or gave vectors that cannot be used.
        """
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return await self._embed(texts, self._prefixes.passage, InvariantError)

    async def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a query, shape (d,), float32.

        Raises:
            QueryError: The query is longer than the window of a model in this process.
            ModelError: As `encode_documents`.
        """
        return (await self._embed([text], self._prefixes.query, QueryError))[0]

    @abstractmethod
    async def _embed(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors: ...


class LocalEncoder(BaseEncoder):
    """An encoder in this process. One batch is tokenized at a time: fast tokenizers must not be shared by threads.

    Example:
        >>> from discorag.models.base_encoder import LocalEncoder
        >>> isinstance(minilm, LocalEncoder)
        True
    """

    def __init__(self, version: str, tokens: FastTokens, dimension: int, prefixes: Prefixes) -> None:
        super().__init__(version, tokens, dimension, prefixes)
        self._lock = FairLock()

    async def _embed(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors:
        return await asyncio.to_thread(self._checked_vectors, texts, prefix, too_long)

    def _checked_vectors(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors:
        with self._lock:
            counts, window = self._tokens.counts(texts), self._tokens.max_tokens
        for i, (text, count) in enumerate(zip(texts, counts, strict=True)):
            if count > window:
                what = "The query" if too_long is QueryError else f"Text {i}"
                raise too_long(
                    f"{what} has {count} tokens, the encoder's window is {window}: {text[:80]!r}...",
                    hint=f"Ask a shorter question, or cut chunks at {window} tokens, special tokens included.",
                )
        return self._vectors(texts, prefix)

    @abstractmethod
    def _vectors(self, texts: Sequence[str], prefix: str) -> Vectors:
        """Return unit vectors, shape (len(texts), d), of one or more texts behind a prefix; blocks."""
