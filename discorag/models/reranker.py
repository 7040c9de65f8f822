"""Rerankers: a score for each text that says how well it answers a query, better than cosine does.

Source: HTSIR section "Reranking and Response Generation" (BGE-Reranker, Cohere).
"""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from discorag.models.encoder import PackagedEncoder
from discorag.models.protocol import Encoder
from discorag.registry import Registry
from discorag.settings import RerankerSettings
from discorag.types.errors import ConfigError, InvalidOutputError, QueryError
from discorag.types.vectors import Vectors

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


class Reranker(Protocol):
    """Scores texts against a query."""

    @property
    def version(self) -> str:
        """The model."""
        ...

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """One number for each text, in order; higher is better. Comparable within one call only.

        Raises:
            ModelError: An endpoint failed, or gave scores that cannot be used.
        """
        ...


MakeReranker = Callable[[RerankerSettings, Encoder], "Reranker"]
"""From the settings and the encoder that retrieval has loaded."""

RERANKERS = Registry[MakeReranker]("reranker", "disco_rag.rerankers")
"""Rerankers by name, as ``DISCO_RAG_RERANKER__KIND`` knows them."""

register_reranker = RERANKERS.register

RERANKERS.offer("maxsim", "discorag.models.reranker:maxsim_reranker", "token vectors of the packaged encoder")
RERANKERS.offer("endpoint", "discorag.models.reranker_server:served_reranker", "a server's /rerank or /score")
RERANKERS.offer("cross-encoder", "discorag.models.reranker:cross_encoder", "a cross-encoder by name or folder")


def reranker_from(settings: RerankerSettings, encoder: Encoder) -> Reranker:
    """The configured reranker. Raises `UnknownNameError` if there is none of this kind, `ConfigError` as its own."""
    auto = "endpoint" if settings.base_url else "cross-encoder" if settings.model else "maxsim"
    return RERANKERS[auto if settings.kind == "auto" else settings.kind](settings, encoder)


def maxsim_reranker(_settings: RerankerSettings, encoder: Encoder) -> MaxSimReranker:
    """For the registry: over the packaged encoder, the loaded one if it is that."""
    return MaxSimReranker(encoder if isinstance(encoder, PackagedEncoder) else PackagedEncoder())


def cross_encoder(settings: RerankerSettings, _encoder: Encoder) -> CrossEncoderReranker:
    """For the registry. Raises `ConfigError` if no model is named."""
    if settings.model is None:
        raise ConfigError("A cross-encoder is to rerank, but none is named.", hint="Set DISCO_RAG_RERANKER__MODEL.")
    return CrossEncoderReranker(settings.model)


class MaxSimReranker:
    """A `Reranker` over the packaged encoder's token vectors, without a model of its own.

    A query's token takes its best cosine among the text's tokens; the score is the mean over the query's tokens. The
    vectors that retrieval compares are means over tokens, in which one decisive word of a long text drowns. Mean
    reciprocal rank of the first gold passage, against cosine of the means: 0.82 to 0.68 on 160 questions of FairytaleQA
    (sections of 20 stories), 0.45 to 0.29 on 26 of QASPER (paragraphs of 7 papers).

    Args:
        encoder: The packaged MiniLM, shared with retrieval.
        batch_size: Texts per forward pass.

    Source: late interaction of ColBERT (Khattab and Zaharia 2020), with an encoder that was not trained for it.

    Example:
        >>> from discorag.models.reranker import MaxSimReranker
        >>> texts = ["The moon pulls the sea.", "Bees dance."]
        >>> scores = asyncio.run(MaxSimReranker(minilm).scores("Why do tides rise?", texts))
        >>> scores[0] > scores[1]
        True
    """

    def __init__(self, encoder: PackagedEncoder, batch_size: int = 16) -> None:
        self._encoder = encoder
        self._batch_size = batch_size
        self._tokenizer: Any = None
        # Fast tokenizers must not be shared by threads.
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """The encoder's."""
        return f"maxsim:{self._encoder.version}"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Mean over the query's tokens of their best cosine in each text, in [-1, 1]; the window's tokens count.

        Raises:
            QueryError: The query has no token.
        """
        return await asyncio.to_thread(self._scores, query, texts)

    def _scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        with self._lock:
            [(asked, special)] = self._token_vectors([query])
            asked = asked[~special]
            if not len(asked):
                raise QueryError(f"The query {query!r} has no token.", hint="Ask in words.")
            size = self._batch_size
            batches = (self._token_vectors(texts[i : i + size]) for i in range(0, len(texts), size))
            return tuple(float((asked @ said.T).max(axis=1).mean()) for batch in batches for said, _ in batch)

    def _token_vectors(self, texts: Sequence[str]) -> list[tuple[Vectors, NDArray[np.bool_]]]:
        """For each text the unit vectors of its tokens, shape (tokens, 384), and which of these are special ones."""
        import torch

        transformer = self._encoder.transformer()
        encodings = self._tokens(transformer).encode_batch(list(texts))
        mask = torch.tensor([e.attention_mask for e in encodings])
        with torch.inference_mode():
            ids = torch.tensor([e.ids for e in encodings])
            states = transformer.auto_model(input_ids=ids, attention_mask=mask).last_hidden_state
            units = torch.nn.functional.normalize(states, dim=-1).numpy()
        lengths = mask.sum(dim=1).tolist()
        return [
            (unit[:n], np.asarray(e.special_tokens_mask[:n], dtype=np.bool_))
            for unit, e, n in zip(units, encodings, lengths, strict=True)
        ]

    def _tokens(self, transformer: Any) -> Tokenizer:
        """A copy of the encoder's tokenizer that cuts at its window and pads."""
        if self._tokenizer is None:
            self._tokenizer = Tokenizer.from_str(transformer.tokenizer.backend_tokenizer.to_str())
            self._tokenizer.enable_truncation(self._encoder.tokens.max_tokens)
            self._tokenizer.enable_padding()
        return self._tokenizer


class CrossEncoderReranker:
    """A `Reranker` that reads query and text together, in this process.

    Args:
        model_name: A folder, or a name that sentence-transformers can load (BAAI/bge-reranker-v2-m3, say).
        batch_size: Pairs per forward pass.

    Source: HTSIR section "Reranking and Response Generation" names BGE-Reranker, which is one.

    Example:
        >>> from discorag.models.reranker import CrossEncoderReranker
        >>> reranker = CrossEncoderReranker(str(cross_encoder))
        >>> len(asyncio.run(reranker.scores("Why do tides rise?", ["The moon pulls the sea.", "Bees dance."])))
        2
    """

    def __init__(self, model_name: str, batch_size: int = 16) -> None:
        self._name = model_name
        self._batch_size = batch_size
        self._model: CrossEncoder | None = None
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """The model's name."""
        return f"cross:{self._name}"

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """As the model gives them; it is loaded at the first call.

        Raises:
            ConfigError: It cannot be loaded, or it gives several numbers for a pair.
            InvalidOutputError: A score is not a finite number.
        """
        return await asyncio.to_thread(self._scores, query, texts) if texts else ()

    def _scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        with self._lock:
            pairs = [(query, text) for text in texts]
            found = np.asarray(self._loaded().predict(pairs, batch_size=self._batch_size, show_progress_bar=False))
        if found.ndim != 1:
            raise ConfigError(
                f"'{self._name}' gives {found.shape[1]} numbers for a pair.", hint="Name a reranker, with one label."
            )
        if not np.isfinite(found).all():
            raise InvalidOutputError(
                f"'{self._name}' gives {found[~np.isfinite(found)][0]} as a score.", hint="Name another reranker."
            )
        return tuple(found.astype(float).tolist())

    def _loaded(self) -> CrossEncoder:
        if self._model is None:
            from sentence_transformers import CrossEncoder

            try:
                self._model = CrossEncoder(self._name)
            except (OSError, ValueError) as error:
                hint = "Name a folder that holds a model, or one that can be downloaded."
                raise ConfigError(f"The reranker '{self._name}' cannot be loaded: {error}", hint=hint) from error
        return self._model
