"""Users who ask one question after another; run by `bench.serving.load`, which says in a file whom to ask what.

Half of the requests are POST /ask for JSON, a fifth for a stream, a fifth chat completions, a tenth streamed ones.
There is no time to think; after an error a user waits a second.
"""

# locust is typed in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import gevent
from locust import FastHttpUser, events, task
from locust.contrib.fasthttp import LocustBadStatusCode

from bench.serving.load import PLAN_VARIABLE, Plan
from bench.serving.outcomes import Kind, Seen, Sent, read

PLAN = Plan.model_validate_json(Path(os.environ[PLAN_VARIABLE]).read_text(encoding="utf-8"))
AFTER_ERROR_S = 1.0
_sent: list[Sent] = []


@events.test_start.add_listener
def _tell(**_: Any) -> None:
    PLAN.started.touch()


@events.quit.add_listener
def _write(**_: Any) -> None:
    PLAN.out.write_text("".join(f"{s.model_dump_json()}\n" for s in _sent), encoding="utf-8")


class Asker(FastHttpUser):
    """A user with the key of one of the tenants."""

    connection_timeout = network_timeout = 600.0

    def on_start(self) -> None:
        """Take a key; connections are kept unless the plan says otherwise."""
        self._headers = {"Authorization": f"Bearer {random.choice(PLAN.keys)}"}
        if PLAN.fresh_connections:
            self._headers["Connection"] = "close"

    @task(5)
    def ask(self) -> None:
        """An answer as JSON."""
        self._ask("ask", "/ask")

    @task(2)
    def ask_stream(self) -> None:
        """Stages and words as they come."""
        self._ask("ask-sse", "/ask", Accept="text/event-stream")

    @task(2)
    def chat(self) -> None:
        """As an OpenAI client asks."""
        self._chat("chat", stream=False)

    @task(1)
    def chat_stream(self) -> None:
        """The same, streamed."""
        self._chat("chat-sse", stream=True)

    def _ask(self, kind: Kind, path: str, **headers: str) -> None:
        corpus, text = random.choice(PLAN.questions)
        self._post(kind, path, {"query": text, "corpus": corpus}, headers)

    def _chat(self, kind: Kind, *, stream: bool) -> None:
        corpus, text = random.choice(PLAN.questions)
        messages = [{"role": "user", "content": text}]
        body = {"model": "disco-rag", "corpus": corpus, "messages": messages, "stream": stream}
        self._post(kind, "/v1/chat/completions", body, {})

    def _post(self, kind: Kind, path: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        at, start = time.time(), time.perf_counter()
        with self.client.post(path, json=body, headers=self._headers | headers, catch_response=True) as response:
            seconds, status = time.perf_counter() - start, response.status_code or 0
            raised = getattr(response, "error", None)  # not there after a success
            error = None if isinstance(raised, LocustBadStatusCode) else raised
            seen = Seen(wrong=repr(error)) if status == 0 or error else read(kind, status, response.content or b"")
            response.success()
        refused = isinstance(error, ConnectionRefusedError)
        sent = Sent(kind=kind, at=at, seconds=seconds, status=status, refused=refused, **seen.model_dump())
        _sent.append(sent)
        if sent.is_error:
            gevent.sleep(AFTER_ERROR_S)
