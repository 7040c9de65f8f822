"""A generator's tokens, exactly: SmolLM2's tokenizer and chat template, as the embedded model's server gives them.

Of transformers, reading the same GGUF file: its tokenizer does not split digits off, and differs in a token of 5,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

import httpx

from discorag.models.embedded import EmbeddedServer
from discorag.models.protocol import Message
from discorag.settings import LlmSettings


class Tokenizer(Protocol):
    """What counting needs of a generator."""

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of a conversation up to where the assistant's turn begins."""
        ...

    def text(self, text: str) -> list[int]:
        """Token ids of an assistant's turn, without the one that ends it."""
        ...


class SmolTokenizer(Tokenizer):
    """SmolLM2's, between ``with`` and its end; the model is loaded and never asked. Raises as `EmbeddedServer`."""

    def __init__(self) -> None:
        self._server = EmbeddedServer()
        served = self._server.serving(LlmSettings())
        key = served.api_key.get_secret_value() if served.api_key else ""
        address = str(served.base_url).removesuffix("/v1")
        self._client = httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {key}"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._server.close()

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """See `Tokenizer.prompt`."""
        turns = [m.model_dump() for m in messages]
        return self._tokens(self._post("/apply-template", {"messages": turns})["prompt"], special=True)

    def text(self, text: str) -> list[int]:
        """See `Tokenizer.text`."""
        return self._tokens(text, special=False)

    def _tokens(self, text: str, *, special: bool) -> list[int]:
        return self._post("/tokenize", {"content": text, "parse_special": special})["tokens"]

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._client.post(path, json=body).raise_for_status().json()
