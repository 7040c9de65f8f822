"""LangChain's chat models and embeddings in the place of configured ones: objects that a program brings along."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from discorag.config import LlmSettings
from discorag.models.chat import Draft
from discorag.models.encoder import BaseEncoder, Prefixes
from discorag.models.encoder_server import unit_vectors
from discorag.models.gateway import Gateway
from discorag.models.protocol import LanguageModel, Request
from discorag.models.tokens import PackagedTokens
from discorag.schema.errors import DiscoRagError, ModelUnavailableError
from discorag.schema.values import Vectors

_GIVER = "The embeddings object"


class LangChainModel:
    """A chat model behind the gateway; its own settings count, schemas are only checked."""

    def __init__(self, model: BaseChatModel) -> None:
        self._model = model

    async def send(self, request: Request[Any]) -> Draft:
        """One call. Raises `ModelUnavailableError` for whatever the model raises."""
        draft = Draft()
        try:
            message = await self._model.ainvoke([(m.role, m.content) for m in request.messages])
        except Exception as error:
            raise _failed(error) from error
        draft.add(message)
        draft.finish_reason = _ended(message) or "stop"
        return draft

    async def stream(self, request: Request[Any]) -> AsyncGenerator[str | Draft, None]:
        """Its pieces, at last the draft. Raises as `send`."""
        draft, ended = Draft(), ""
        try:
            async for piece in self._model.astream([(m.role, m.content) for m in request.messages]):
                draft.add(piece)
                ended = _ended(piece) or ended
                yield piece.text
        except Exception as error:
            raise _failed(error) from error
        draft.finish_reason = ended or "stop"
        yield draft

    async def aclose(self) -> None:
        """Close nothing: the caller owns the model."""


def language_model(model: BaseChatModel, settings: LlmSettings) -> LanguageModel:
    """The gateway over ``model``: replies are checked, repaired once, counted, cached."""
    name = str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)
    return Gateway(settings.model_copy(update={"model": name, "base_url": None}), chat=LangChainModel(model))


class LangChainEncoder(BaseEncoder):
    """LangChain's embeddings as an encoder. Tokens are counted by the packaged tokenizer, as an estimate.

    Args:
        embeddings: What encodes; the version is its class and model, as far as it says them.
        dimension: Length of its vectors.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from nodes.langchain_adapters import LangChainEncoder
        >>> encoder = LangChainEncoder(DeterministicFakeEmbedding(size=8), 8)
        >>> asyncio.run(encoder.encode_documents(["Tides rise.", "Tides fall."])).shape
        (2, 8)
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


def _ended(message: AIMessage) -> str:
    """Why the model stopped, by the name that makers give it: ``length`` where that was the limit of the output."""
    reasons = (message.response_metadata.get(key) for key in ("finish_reason", "stop_reason", "done_reason"))
    reason = next((str(r) for r in reasons if r), "")
    return "length" if reason.lower() in {"length", "max_tokens"} else "stop" if reason else ""


def _failed(error: Exception) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"The chat model raised {type(error).__name__}: {error}", hint="Check the chat model that you passed as llm."
    )
