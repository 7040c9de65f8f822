"""LangChain chat models and embeddings that the caller passes in, used instead of the configured ones."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from discorag.config import LlmSettings
from discorag.models.chat import ChatClient
from discorag.models.encoder import BaseEncoder, Prefixes
from discorag.models.gateway import Gateway
from discorag.models.protocol import LanguageModel
from discorag.models.providers import own_model
from discorag.models.served import unit_vectors
from discorag.models.tokens import PackagedTokens
from discorag.schema.errors import DiscoRagError
from discorag.schema.values import Vectors

_GIVER = "The embeddings object"


def language_model(model: BaseChatModel, settings: LlmSettings) -> LanguageModel:
    """The gateway over ``model``: replies are checked, repaired once, counted, cached."""
    name = str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)
    named = settings.model_copy(update={"model": name, "base_url": None})
    return Gateway(named, chat=ChatClient(named, own_model(model, settings.context_tokens)))


class LangChainEncoder(BaseEncoder):
    """LangChain's embeddings as an encoder. Tokens are counted by the packaged tokenizer, as an estimate.

    Args:
        embeddings: What encodes; the version is its class and model, as far as it says them.
        dimension: Length of its vectors.
    """

    def __init__(self, embeddings: Embeddings, dimension: int) -> None:
        named = getattr(embeddings, "model_name", None) or getattr(embeddings, "model", None) or ""
        version = f"langchain-{type(embeddings).__name__}-{named}/{dimension}"
        super().__init__(version, PackagedTokens(), dimension, Prefixes())
        self._embeddings = embeddings

    @classmethod
    async def of(cls, embeddings: Embeddings) -> LangChainEncoder:
        """Encode one text to learn the length of the vectors."""
        return cls(embeddings, len(await embeddings.aembed_query("length")))

    async def encode_query(self, text: str) -> Vectors:
        """Unit vector, shape (d,)."""
        return unit_vectors([await self._embeddings.aembed_query(text)], 1, _GIVER)[0]

    async def _embed(self, texts: Sequence[str], prefix: str, too_long: type[DiscoRagError]) -> Vectors:
        return unit_vectors(await self._embeddings.aembed_documents(list(texts)), len(texts), _GIVER)
