"""An encoder with a cache: the stages of a question encode the same sentences several times.

An ingest stores its vectors with the chunks (`pack_vectors`); a question loads them (`MemoEncoder.remember`).
"""

from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock

import numpy as np
from cachetools import LRUCache

from discorag.models.protocol import Encoder
from discorag.schema.values import Vectors

QUESTIONS = 16
"""Questions whose vectors are in the cache: up to four stages of a run encode the same one."""
_AT_ONCE = 4096
"""Texts that are encoded together: as long as one of their vectors is in the cache, all of them stay in memory."""
_KEY = 16  # bytes
_LAYOUT = "2:"


def pack_vectors(texts: Sequence[str], vectors: Vectors) -> str:
    """Serialise vectors with the digests of their texts, as base64 after the number of this layout.

    Args:
        texts: n texts.
        vectors: Their vectors, shape (n, d); stored as float16.
    """
    return _LAYOUT + b64encode(b"".join(map(_key, texts)) + vectors.astype("<f2").tobytes()).decode("ascii")


def _key(text: str) -> bytes:
    """A cryptographic digest: nobody can write a text that has the digest of another tenant's text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()


class MemoEncoder:
    """Wraps an encoder with an LRU cache of document vectors and of the last few questions.

    Args:
        encoder: The encoder that does the work.
        size: Texts in the cache; 1.5 kB each at 384 dimensions.
    """

    def __init__(self, encoder: Encoder, *, size: int = 4096) -> None:
        self._encoder = encoder
        self.version, self.tokens, self.dimension = encoder.version, encoder.tokens, encoder.dimension
        self._memory: LRUCache[bytes, Vectors] = LRUCache(size)
        self._questions: LRUCache[str, Vectors] = LRUCache(QUESTIONS)
        self._lock = Lock()  # event loops of several threads share it; even a look-up changes the order

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d); only texts that are not in the cache are encoded, each once."""
        found = np.empty((len(texts), self.dimension), np.float32)
        for i in range(0, len(texts), _AT_ONCE):
            found[i : i + _AT_ONCE] = await self._encode(texts[i : i + _AT_ONCE])
        return found

    async def _encode(self, texts: Sequence[str]) -> list[Vectors]:
        keys = [_key(text) for text in texts]
        with self._lock:
            known = {key: self._memory[key] for key in keys if key in self._memory}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            vectors = await self._encoder.encode_documents(list(missing.values()))
            known.update(zip(missing, vectors, strict=True))
        with self._lock:
            self._memory.update(known)
        return [known[key] for key in keys]

    def remember(self, units: str) -> None:
        """Load what `pack_vectors` wrote for this encoder; an empty text, or one of another layout, is ignored."""
        if not units.startswith(_LAYOUT):
            return
        content = b64decode(units.removeprefix(_LAYOUT))
        count = len(content) // (_KEY + 2 * self.dimension)
        keys = [content[i : i + _KEY] for i in range(0, _KEY * count, _KEY)]
        vectors = np.frombuffer(content[_KEY * count :], "<f2").reshape(count, self.dimension).astype(np.float32)
        with self._lock:
            self._memory.update(zip(keys, vectors, strict=True))

    async def encode_query(self, text: str) -> Vectors:
        """The wrapped encoder's query vector, shape (d,)."""
        with self._lock:
            known = self._questions.get(text)
        if known is None:
            known = await self._encoder.encode_query(text)
            with self._lock:
                self._questions[text] = known
        return known
