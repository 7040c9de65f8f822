"""Any model of sentence-transformers, by a folder or by its name on the Hugging Face hub, run in this process."""

# sentence-transformers and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from discorag.config import EncoderSettings
from discorag.extras import extra
from discorag.models.encoder import LocalEncoder, Prefixes
from discorag.models.hub import local_model, model_version
from discorag.models.loops import raise_if_cancelled
from discorag.models.tokens import FastTokens
from discorag.schema.errors import ConfigError
from discorag.schema.values import Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


async def named_encoder(settings: EncoderSettings) -> SentenceEncoder:
    """The encoder ``sentence-transformers``."""
    return await asyncio.to_thread(SentenceEncoder, settings)


class SentenceEncoder(LocalEncoder):
    """The model of sentence-transformers that ``settings.model`` names, loaded from this machine.

    A prefix that is not configured is the prompt that the model names for queries or documents, if it names one; the
    version has a digest of those that are configured. Raises `ConfigError` if the model cannot be used.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        model = load_named(settings.model)
        configured = Prefixes(settings.query_prefix, settings.passage_prefix)
        prefixes = Prefixes(
            configured.query or model.prompts.get("query") or "",
            configured.passage or model.prompts.get("document") or "",
        )
        tokens = prefixes.less(_tokens(model, settings.model))
        self._model, self._batch_size = model, settings.batch_size
        version = f"{model_version(settings.model)}/{tokens.max_tokens}{configured.version}"
        super().__init__(version, tokens, 0, prefixes)
        self.dimension = self._vectors(["dimension"], "").shape[1]

    def _vectors(self, texts: Sequence[str], prefix: str) -> Vectors:
        order, found = sorted(range(len(texts)), key=lambda i: -len(texts[i])), list[Vectors]()
        for start in range(0, len(order), self._batch_size):
            batch = [texts[i] for i in order[start : start + self._batch_size]]
            raise_if_cancelled()
            with self._lock:  # others come in between two batches
                found.append(
                    self._model.encode(
                        batch,
                        prompt=prefix,
                        batch_size=self._batch_size,
                        normalize_embeddings=True,
                        convert_to_numpy=True,
                        show_progress_bar=False,
                    )
                )
        return np.concatenate(found).astype(np.float32)[np.argsort(order)]


def load_named(name: str) -> SentenceTransformer:
    """Load a model by its folder, or by its name on the hub. Raises `ConfigError` if that fails."""
    with extra("torch"):
        from sentence_transformers import SentenceTransformer

    from transformers.utils import logging

    folder, shows_progress = local_model(name), logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        return SentenceTransformer(str(folder), local_files_only=True)
    except (OSError, ValueError) as error:
        said = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "Name a model of sentence-transformers, by its folder or its name on the hub, or an endpoint."
        raise ConfigError(f"The model '{name}' cannot be loaded: {said}", hint=hint) from error
    finally:
        if shows_progress:
            logging.enable_progress_bar()


def _tokens(model: SentenceTransformer, name: str) -> FastTokens:
    from tokenizers import Tokenizer

    backend, window = getattr(model.tokenizer, "backend_tokenizer", None), model.max_seq_length
    if not isinstance(backend, Tokenizer) or not window:
        raise ConfigError(f"The model '{name}' has no fast tokenizer, or no window.", hint="Choose another one.")
    return FastTokens(Tokenizer.from_str(backend.to_str()), window)
