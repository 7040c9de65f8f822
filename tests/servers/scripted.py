"""A real OpenAI-compatible HTTP server on loopback whose model is a script.

    def model(body: dict[str, Any]) -> Scripted | str:
        return '{"relations": []}' if "graph" in body["messages"][-1]["content"] else "The answer."

    with ScriptedServer(model) as server:
        settings = LlmSettings(base_url=server.base_url, cache=None)

The script is a function of the request's JSON body, or a list of replies given out in order (one more request than
replies is answered 400, which no client retries). It speaks ``/v1/chat/completions`` (whole and streamed, with
``n`` choices), ``/v1/embeddings``, ``/v1/models`` and vLLM's ``/health``, keeps every request, and counts tokens
simply: four characters of ``role: content`` lines are one; the longest prefix shared with an earlier request counts as
cached.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.servers.loopback import LoopbackServer

Body = dict[str, Any]


@dataclass(frozen=True)
class Scripted:
    """One reply.

    Args:
        text: The output; None is sent as ``content: null`` (a thinking model that spent its budget). With
            a ``status`` other than 200: the error's message.
        finish_reason: ``length`` for an output that was cut off.
        status: HTTP status.
        delay_s: Wait before the first byte; a long one is a server that hangs (leaving the ``with`` ends it).
        headers: Response headers, e.g. ``{"Retry-After": "1"}``.
        usage: Token counts in the place of the simple ones.
        refusal: The model's refusal.
        break_after: Streamed only: drop the connection after so many pieces of 8 characters.
        raw: Sent as the whole body as it is, for servers that speak something else.
        pause_s: Streamed only: wait after every piece.
    """

    text: str | None = ""
    finish_reason: str = "stop"
    status: int = 200
    delay_s: float = 0.0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    usage: dict[str, Any] | None = None
    refusal: str | None = None
    break_after: int | None = None
    raw: str | None = None
    pause_s: float = 0.0


Script = Callable[[Body], Scripted | str]


def hashed_vector(text: str, dimension: int = 16) -> list[float]:
    """A deterministic bag-of-words vector: texts that share words are near each other. Not of unit length."""
    vector = [0.0] * dimension
    for word in text.lower().split() or [""]:
        vector[hashlib.sha256(word.encode()).digest()[0] % dimension] += 1.0
    return vector


class ScriptedServer(LoopbackServer):
    """The server, running between ``with`` and its end, in a thread.

    Args:
        respond: The model: a function of the request body, or the replies in order.
        embed: The encoder: texts to vectors, or a `Scripted` failure.
        model: What ``/v1/models`` says of the model beside its name.

    Attributes:
        requests: Bodies of all chat requests, in order of arrival.
        embedding_requests: Bodies of all embedding requests.
        authorizations: ``Authorization`` header of every request of either kind.
        peak: Most chat requests that were under way at once.
        streaming: Streams that are being sent; one whose client has gone is not.
    """

    def __init__(
        self,
        respond: Script | Sequence[Scripted | str] = (),
        *,
        embed: Callable[[list[str]], list[list[float]] | Scripted] = lambda texts: [hashed_vector(t) for t in texts],
        model: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__()
        self._said = {"id": "scripted", "object": "model"} | dict(model or {})
        self._respond: Script = respond if callable(respond) else _in_order(respond)
        self._embed = embed
        self.requests: list[Body] = []
        self.embedding_requests: list[Body] = []
        self.authorizations: list[str] = []
        self.peak = 0
        self.streaming = 0
        self._under_way = 0
        self._prompts: list[str] = []

    @property
    def base_url(self) -> str:
        """What goes into ``base_url`` settings, ending in ``/v1``."""
        return f"{self.address}/v1"

    def _routes(self) -> list[Route]:
        return [
            Route("/health", self._health),
            Route("/v1/models", self._models),
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/embeddings", self._embeddings, methods=["POST"]),
        ]

    async def _health(self, request: Request) -> Response:
        return Response()

    async def _models(self, request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [self._said]})

    async def _embeddings(self, request: Request) -> Response:
        body = await request.json()
        self.embedding_requests.append(body)
        self.authorizations.append(request.headers.get("authorization", ""))
        vectors = self._embed(body["input"] if isinstance(body["input"], list) else [body["input"]])
        if isinstance(vectors, Scripted):
            await asyncio.sleep(vectors.delay_s)
            return _plain(vectors)
        rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        # Not in order: clients go by the index.
        return JSONResponse({"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage})

    async def _chat(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        self.authorizations.append(request.headers.get("authorization", ""))
        self._under_way += 1
        self.peak = max(self.peak, self._under_way)
        try:
            scripted = self._respond(body)
            reply = Scripted(scripted) if isinstance(scripted, str) else scripted
            await asyncio.sleep(reply.delay_s)
        finally:
            self._under_way -= 1
        if reply.status != 200 or reply.raw is not None:
            return _plain(reply)
        usage = reply.usage or self._count(body, reply)
        if body.get("stream"):
            counts = usage if body.get("stream_options") == {"include_usage": True} else None
            return StreamingResponse(
                self._streamed(reply, counts), headers=reply.headers, media_type="text/event-stream"
            )
        # As under beam search the choices after the first are worse: cut off.
        others = [_choice(i, "a worse candidate", "length") for i in range(1, body.get("n") or 1)]
        choices = [_choice(0, reply.text, reply.finish_reason, reply.refusal), *others]
        return JSONResponse(_object("chat.completion", choices) | {"usage": usage}, headers=reply.headers)

    async def _streamed(self, reply: Scripted, usage: dict[str, Any] | None) -> AsyncIterator[str]:
        self.streaming += 1
        try:
            async for event in _events(reply, usage):
                yield event
        finally:
            self.streaming -= 1

    def _count(self, body: Body, reply: Scripted) -> dict[str, Any]:
        prompt = "".join(f"{m['role']}: {m['content']}\n" for m in body["messages"])
        cached = max((_shared(prompt, old) for old in self._prompts), default=0)
        self._prompts.append(prompt)
        tokens_in, tokens_out = len(prompt) // 4, len(reply.text or "") // 4
        counts = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
        return counts | {"prompt_tokens_details": {"cached_tokens": cached // 4}}


def _shared(a: str, b: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _in_order(replies: Sequence[Scripted | str]) -> Script:
    left = iter(replies)
    return lambda body: next(left, Scripted(f"The script ended after {len(replies)} replies.", status=400))


def _plain(reply: Scripted) -> Response:
    error = {"message": reply.text, "type": "scripted", "code": None}
    content = json.dumps({"error": error}) if reply.raw is None else reply.raw
    return Response(content, reply.status, reply.headers, "application/json" if reply.raw is None else "text/html")


def _object(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": "scripted", "choices": choices}


def _choice(index: int, text: str | None, finish: str, refusal: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {"index": index, "message": message, "finish_reason": finish, "logprobs": None}


async def _events(reply: Scripted, usage: dict[str, Any] | None) -> AsyncIterator[str]:
    def event(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps(_object('chat.completion.chunk', [choice]))}\n\n"

    yield event({"role": "assistant", "content": ""})
    text = reply.text or ""
    for i, start in enumerate(range(0, len(text), 8)):
        if i == reply.break_after:
            raise ConnectionAbortedError
        yield event({"content": text[start : start + 8]})
        await asyncio.sleep(reply.pause_s)
    yield event({}, reply.finish_reason)
    if usage:
        yield f"data: {json.dumps(_object('chat.completion.chunk', []) | {'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"
