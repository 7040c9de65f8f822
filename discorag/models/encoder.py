"""The encoders by name, and the default one: all-MiniLM-L6-v2 from an installed package."""

# onnxruntime is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discorag.config import EncoderSettings, Settings
from discorag.models.base_encoder import LocalEncoder, Prefixes
from discorag.models.cancellation import raise_if_cancelled
from discorag.models.onnx import open_session
from discorag.models.packaged import BGE_SMALL, MINILM, packaged_folder
from discorag.models.protocol import Encoder
from discorag.models.tokens import PackagedTokens
from discorag.registry import Registry
from discorag.schema.errors import ConfigError
from discorag.schema.vectors import Vectors

GRAPH = Path(__file__).with_name("minilm.onnx")
"""Made by `training.minilm_graph`; its weights are read from the package of the model."""
_REVISION = "gt-0.1.0"
"""Of its vectors: they are still those of the package in which the same weights came first."""
_DIMENSION = 384
_BATCH_TOKENS = 2048
"""In one forward pass at most, special tokens included: what bounds its memory, and how long it cannot be stopped."""


class PackagedEncoder(LocalEncoder):
    """The packaged MiniLM by ONNX Runtime (384 dimensions, window 256 tokens).

    Texts of the same number of tokens share a forward pass, so nothing is padded, and a text's vector does not depend
    on the texts next to it. Threads may share an instance: a question need not wait for a document.

    Args:
        prefixes: Put before texts; MiniLM was trained without any.

    Example:
        >>> from discorag.models.encoder import PackagedEncoder
        >>> encoder = PackagedEncoder()
        >>> encoder.dimension, encoder.tokens.max_tokens
        (384, 256)
        >>> asyncio.run(encoder.encode_documents(["Tides rise.", "Bees dance."])).shape
        (2, 384)
    """

    def __init__(self, prefixes: Prefixes | None = None) -> None:
        prefixes = prefixes or Prefixes()
        tokens = prefixes.less(PackagedTokens())
        version = f"{MINILM.name}@{_REVISION}/{tokens.max_tokens}"
        super().__init__(version, tokens, _DIMENSION, prefixes)
        self._session: Any = None

    def _vectors(self, texts: Sequence[str], prefix: str) -> Vectors:
        with self._lock:
            self._session = self._session or open_session(GRAPH, threads=0, weights=packaged_folder(MINILM.name))
            ids = [self._tokens.ids(prefix + text) for text in texts]
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
    """For the registry. Raises `ConfigError` if another model than the packaged ones is named, or is damaged."""
    prefixes = Prefixes(settings.query_prefix, settings.passage_prefix)
    if settings.model == MINILM.name:
        return await asyncio.to_thread(PackagedEncoder, prefixes)
    if settings.model == BGE_SMALL.name:
        from discorag.models.bge_small import BgeSmallEncoder

        return await asyncio.to_thread(BgeSmallEncoder, prefixes)
    raise ConfigError(
        f"There is no packaged encoder '{settings.model}'.",
        hint=f"Set DISCO_RAG_ENCODER__MODEL to {MINILM.name} or {BGE_SMALL.name}, or unset DISCO_RAG_ENCODER__KIND.",
    )


MakeEncoder = Callable[[EncoderSettings], Awaitable[Encoder]]

ENCODERS = Registry[MakeEncoder]("encoder", "disco_rag.encoders")
"""Encoders by name, as ``DISCO_RAG_ENCODER__KIND`` knows them."""

register_encoder = ENCODERS.register

ENCODERS.offer("packaged", "discorag.models.encoder:packaged_encoder", "all-MiniLM-L6-v2 or bge-small-en-v1.5")
ENCODERS.offer("sentence-transformers", "discorag.models.sentence_encoder:opened", "a model by name or folder")
ENCODERS.offer("endpoint", "discorag.models.encoder_server:connected", "an OpenAI-compatible /v1/embeddings")


async def encoder_from(settings: Settings) -> Encoder:
    """The configured encoder; asks an endpoint once for its dimension.

    Raises:
        UnknownNameError: There is no encoder of this kind.
        ConfigError: A model other than the packaged one is named, and cannot be loaded.
        ModelError: The endpoint does not answer.
    """
    chosen = settings.encoder
    named = "packaged" if chosen.model in (MINILM.name, BGE_SMALL.name) else "sentence-transformers"
    auto = named if chosen.base_url is None else "endpoint"
    ENCODERS.check(chosen.kind, also=("auto",))
    return await ENCODERS[auto if chosen.kind == "auto" else chosen.kind](chosen)
