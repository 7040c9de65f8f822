"""Ollama on loopback, with a script for a model: its own API, and the OpenAI-compatible one next to it.

    with OllamaServer(lambda body: "The answer.", installed={"qwen3:8b": 40_960}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        rag = DiscoRAG(llm="ollama:qwen3:8b")

The body that the script is given is the one of ``/api/chat``. As the real one does, it knows only installed models, and
reads no more of a prompt than ``num_ctx`` tokens, 4,096 by default.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.servers.scripted import Body, Script, Scripted, ScriptedServer


class OllamaServer(ScriptedServer):
    """The server, running between ``with`` and its end, in a thread.

    Args:
        respond: As of `ScriptedServer`.
        installed: Context length of each model by name.
        capabilities: What ``/api/show`` says that the models can do.
    """

    def __init__(
        self,
        respond: Script | Sequence[Scripted | str] = (),
        *,
        installed: Mapping[str, int],
        capabilities: Sequence[str] = ("completion",),
    ) -> None:
        super().__init__(respond)
        self._installed = dict(installed)
        self._capabilities = list(capabilities)

    @property
    def host(self) -> str:
        """What goes into ``OLLAMA_HOST``."""
        return self.base_url.removesuffix("/v1")

    def _routes(self) -> list[Route]:
        return [
            *super()._routes(),
            Route("/api/tags", self._tags),
            Route("/api/show", self._show, methods=["POST"]),
            Route("/api/chat", self._own_chat, methods=["POST"]),
        ]

    async def _tags(self, request: Request) -> Response:
        return JSONResponse({"models": [{"name": name, "model": name} for name in self._installed]})

    async def _show(self, request: Request) -> Response:
        name = (await request.json())["model"]
        if not self._knows(name):
            return _not_found(name)
        context = self._installed.get(name) or self._installed[f"{name}:latest"]
        info = {"general.architecture": "fake", "fake.context_length": context}
        return JSONResponse({"model_info": info, "capabilities": self._capabilities})

    async def _own_chat(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        if not self._knows(body["model"]):
            return _not_found(body["model"])
        if body.get("think") and "thinking" not in self._capabilities:
            return JSONResponse({"error": f'"{body["model"]}" does not support thinking'}, 400)
        scripted = self._respond(body)
        reply = Scripted(scripted) if isinstance(scripted, str) else scripted
        await asyncio.sleep(reply.delay_s)
        if reply.status != 200:
            return JSONResponse({"error": reply.text}, reply.status, reply.headers)
        end = self._end(body, reply)
        if body.get("stream", True):
            return StreamingResponse(_lines(reply, end), media_type="application/x-ndjson")
        return JSONResponse(end | {"message": {"role": "assistant", "content": reply.text or ""}})

    def _knows(self, name: str) -> bool:
        return name in self._installed or f"{name}:latest" in self._installed

    def _end(self, body: Body, reply: Scripted) -> dict[str, Any]:
        counts = self._count(body, reply)
        read = min(counts["prompt_tokens"], body.get("options", {}).get("num_ctx", 4096))
        counted = {"prompt_eval_count": read, "eval_count": counts["completion_tokens"]}
        said = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": True}
        return said | {"done_reason": reply.finish_reason, "message": {"role": "assistant", "content": ""}} | counted


async def _lines(reply: Scripted, end: dict[str, Any]) -> AsyncIterator[str]:
    text = reply.text or ""
    for i, start in enumerate(range(0, len(text), 8)):
        if i == reply.break_after:
            raise ConnectionAbortedError
        message = {"role": "assistant", "content": text[start : start + 8]}
        yield json.dumps({"model": end["model"], "message": message, "done": False}) + "\n"
        await asyncio.sleep(reply.pause_s)
    yield json.dumps(end) + "\n"


def _not_found(name: str) -> Response:
    return JSONResponse({"error": f'model "{name}" not found, try pulling it first'}, 404)
