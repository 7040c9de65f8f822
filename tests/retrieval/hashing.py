"""An encoder and a tokenizer that cost next to nothing, for tests of what stands around an encoder."""

import re
from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np

from discorag.schema.values import Vectors

_TOKEN = re.compile(r"\w+|[^\w\s]")


class HashingTokens:
    """Words and punctuation marks."""

    special_tokens = 2

    def __init__(self, max_tokens: int = 256) -> None:
        self.max_tokens = max_tokens

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[match.span() for match in _TOKEN.finditer(text)] for text in texts]


class HashingEncoder:
    """A unit vector that counts words by their hashes; texts with the same words have the same vector."""

    version = "hashing"
    dimension = 64

    def __init__(self, max_tokens: int = 256) -> None:
        self.tokens = HashingTokens(max_tokens)

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        counts = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(counts, texts, strict=True):
            for word in _TOKEN.findall(text) or [text]:
                row[_bucket(word.lower())] += 1
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    async def encode_query(self, text: str) -> Vectors:
        return (await self.encode_documents([text]))[0]


@cache
def _bucket(word: str) -> int:
    return crc32(word.encode()) % HashingEncoder.dimension
