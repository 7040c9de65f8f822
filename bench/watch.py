"""Encoder and language model as they are, watched: how long they took, and what was asked and said."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from langgraph.config import get_config

from discorag.models.protocol import Encoder, LanguageModel, Message, Reply, Request
from discorag.text.tokens import TokenCounter
from discorag.types.vectors import Vectors

T = TypeVar("T")


@dataclass(frozen=True)
class Exchange:
    """One call of a language model: the prompt and the reply, verbatim."""

    stage: str
    messages: tuple[Message, ...]
    text: str


class Stopwatch:
    """Seconds during which at least one of its sections was under way, by the graph's node that ended them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._under_way = 0
        self._since = 0.0

    @contextmanager
    def section(self) -> Generator[None]:
        """Count the time inside a node of the answer graph; sections may overlap."""
        if self._under_way == 0:
            self._since = time.perf_counter()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if self._under_way == 0:
                node = get_config().get("metadata", {})["langgraph_node"]
                self.seconds[node] += time.perf_counter() - self._since


class WatchedEncoder(Encoder):
    """An encoder whose encoding is timed. Counting tokens is not: it is done for reasons of ours."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.watch = Stopwatch()

    @property
    def version(self) -> str:
        """The encoder's."""
        return self._encoder.version

    @property
    def tokens(self) -> TokenCounter:
        """The encoder's."""
        return self._encoder.tokens

    @property
    def dimension(self) -> int:
        """The encoder's."""
        return self._encoder.dimension

    async def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """As the encoder."""
        with self.watch.section():
            return await self._encoder.encode_documents(texts)

    async def encode_query(self, text: str) -> Vectors:
        """As the encoder."""
        with self.watch.section():
            return await self._encoder.encode_query(text)


class WatchedModel(LanguageModel):
    """A language model whose calls are timed and kept. Of a stream, only the waiting for its pieces counts."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.watch = Stopwatch()
        self.exchanges: list[Exchange] = []

    @property
    def name(self) -> str:
        """The model's."""
        return self._model.name

    async def complete(self, request: Request[T]) -> Reply[T]:
        """As the model."""
        with self.watch.section():
            reply = await self._model.complete(request)
        self.exchanges.append(Exchange(request.stage, request.messages, reply.text))
        return reply

    async def stream(self, request: Request[str]) -> AsyncIterator[str | Reply[str]]:
        """As the model."""
        parts = self._model.stream(request)
        while True:
            with self.watch.section():
                part = await anext(parts, None)
            if part is None:
                return
            if isinstance(part, Reply):
                self.exchanges.append(Exchange(request.stage, request.messages, part.text))
            yield part
