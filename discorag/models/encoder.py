"""The encoders by name, what they have in common, and the packaged one, all-MiniLM-L6-v2."""

# onnxruntime is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import asyncio
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discorag.config import EncoderSettings, Settings
from discorag.models.loops import FairLock, raise_if_cancelled
from discorag.models.packaged import MINILM, open_session, packaged_folder
from discorag.models.protocol import Encoder
from discorag.models.tokens import FastTokens, PackagedTokens
from discorag.registry import Registry
from discorag.schema.errors import ConfigError, DiscoRagError, InvariantError, QueryError
from discorag.schema.values import Vectors, digest


@dataclass(frozen=True)
class Prefixes:
    """Texts that are put before queries and passages, as some encoders were trained."""

    query: str = ""
    passage: str = ""

    @property
    def version(self) -> str:
        """What is appended to an encoder's version: a digest, or nothing where there are no prefixes."""
        both = f"{self.query}\n{self.passage}"
        return f"/{digest(both)[:8]}" if both.strip("\n") else ""

    def less(self, tokens: FastTokens) -> FastTokens:
        """Return the tokenizer with a window that is shorter by the longer of the two prefixes."""
        return tokens.less(max(tokens.counts([self.query, self.passage])) - tokens.special_tokens)


class BaseEncoder(ABC):
    """An `Encoder`: subclasses say how texts become vectors.

    Args:
        version: Model, revision, window, and a digest of the prefixes where there are any.
        tokens: The model's tokenizer; its window is what prefixes leave.
        dimension: Length d of a vector.
        prefixes: Put before texts.
    """

    def __init__(self, version: str, tokens: FastTokens, dimension: int, prefixes: Prefixes) -> None:
        self.version, self.tokens, self.dimension, self._prefixes = version, tokens, dimension, prefixes

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Encoder`. A text that a model in this process would cut silently raises `InvariantError`."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return await self._embed(texts, self._prefixes.passage, InvariantError)

    async def encode_query(self, text: str) -> Vectors:
        """See `Encoder`. A query that a model in this process would cut silently raises `QueryError`."""
        return (await self._embed([text], self._prefixes.query, QueryError))[0]

    @abstractmethod
    async def _embed(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors: ...


class LocalEncoder(BaseEncoder):
    """An encoder in this process. One batch is tokenized at a time: fast tokenizers must not be shared by threads."""

    def __init__(self, version: str, tokens: FastTokens, dimension: int, prefixes: Prefixes) -> None:
        super().__init__(version, tokens, dimension, prefixes)
        self._lock = FairLock()

    async def _embed(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors:
        return await asyncio.to_thread(self._checked_vectors, texts, prefix, too_long)

    def _checked_vectors(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors:
        with self._lock:
            counts, window = self.tokens.counts(texts), self.tokens.max_tokens
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


GRAPH = Path(__file__).with_name("minilm.onnx")
"""Made by `training.minilm_graph`; its weights are read from the model's own file."""
_REVISION = "gt-0.1.0"
"""Part of the encoder's version, named after the first package with these weights. Its weights had 32 bits; the cosine
between its vectors and ours is 0.999999.
"""
_DIMENSION = 384
_BATCH_TOKENS = 512
"""Most tokens in one forward pass, special tokens included: a pass cannot be cancelled, and takes memory for each."""


class PackagedEncoder(LocalEncoder):
    """The packaged MiniLM by ONNX Runtime (384 dimensions, window 256 tokens).

    Texts of the same number of tokens share a forward pass, so nothing is padded, and a text's vector does not depend
    on the texts next to it. Threads may share an instance: a question need not wait for a document.

    Args:
        prefixes: Put before texts; MiniLM was trained without any.
    """

    def __init__(self, prefixes: Prefixes | None = None) -> None:
        prefixes = prefixes or Prefixes()
        tokens = prefixes.less(PackagedTokens())
        version = f"{MINILM.name}@{_REVISION}/{tokens.max_tokens}{prefixes.version}"
        super().__init__(version, tokens, _DIMENSION, prefixes)
        self._session: Any = None

    def _vectors(self, texts: Sequence[str], prefix: str) -> Vectors:
        with self._lock:
            self._session = self._session or open_session(GRAPH, threads=0, weights=packaged_folder(MINILM.name))
            ids = [self.tokens.ids(prefix + text) for text in texts]
        vectors = np.empty((len(ids), _DIMENSION), np.float32)
        for rows in _batches(ids):
            raise_if_cancelled()
            vectors[rows] = self._session.run(None, {"ids": np.array([ids[i] for i in rows], np.int64)})[0]
        return vectors


def _batches(ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indices of texts with the same number of tokens, `_BATCH_TOKENS` together, or one text with more."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for i, text in enumerate(ids):
        by_length[len(text)].append(i)
    for length, rows in by_length.items():
        size = max(1, _BATCH_TOKENS // length)
        yield from (rows[i : i + size] for i in range(0, len(rows), size))


async def packaged_encoder(settings: EncoderSettings) -> Encoder:
    """The encoder ``packaged``. Raises `ConfigError` if another model is named."""
    prefixes = Prefixes(settings.query_prefix, settings.passage_prefix)
    if settings.model == MINILM.name:
        return await asyncio.to_thread(PackagedEncoder, prefixes)
    raise ConfigError(
        f"There is no packaged encoder '{settings.model}'.",
        hint=f"Set DISCO_RAG_ENCODER__MODEL to {MINILM.name}, or unset DISCO_RAG_ENCODER__KIND.",
    )


MakeEncoder = Callable[[EncoderSettings], Awaitable[Encoder]]

ENCODERS = Registry[MakeEncoder]("encoder", "disco_rag.encoders")
"""Encoders by name, as ``DISCO_RAG_ENCODER__KIND`` knows them."""

register_encoder = ENCODERS.register

ENCODERS.offer("packaged", "discorag.models.encoder:packaged_encoder", "all-MiniLM-L6-v2")
ENCODERS.offer("sentence-transformers", "discorag.models.sentence_encoder:named_encoder", "a model by name or folder")
ENCODERS.offer("endpoint", "discorag.models.served:ServerEncoder.connect", "an OpenAI-compatible /v1/embeddings")


async def encoder_from(settings: Settings) -> Encoder:
    """The configured encoder. Raises `ConfigError` if it cannot be loaded, `ModelError` if its endpoint fails."""
    chosen = settings.encoder
    named = "packaged" if chosen.model == MINILM.name else "sentence-transformers"
    auto = named if chosen.base_url is None else "endpoint"
    ENCODERS.check(chosen.kind, also=("auto",))
    return await ENCODERS[auto if chosen.kind == "auto" else chosen.kind](chosen)
