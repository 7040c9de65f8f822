"""Questions to a server: streams that are left, and thousands of asks in a row.

- `disconnects`: ``work_after_s``: the 95th percentile of how long the server still worked on a stream that its client
  had left: until no request is under way, and the language model neither writes nor gets a further call.
- `soak`: ``memory_growth_pct`` and ``descriptor_growth``: medians of the last tenth of the asks against the second
  tenth's, of the server with its children.
"""

from __future__ import annotations

import json
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from statistics import median, quantiles
from typing import Any

import httpx
import psutil

from bench.replies import respond
from bench.serving.promises import promised, settle
from bench.serving.server import ApiServer, Home
from bench.trust.jobs import PATIENCE_S
from bench.trust.product import language_model, write_texts
from bench.trust.trial import Figures, Trial
from tests.servers.scripted import Scripted, ScriptedServer

TENANT = "asker"
DOCUMENTS = 6
CALL_S, WRITING_S = 1.5, 6.0
"""What the scripted language model takes before it replies, and, where it streams, until the reply is whole."""
CALLS = 3
"""Of a question."""
_PIECE = 8  # characters of a streamed piece
AT_ONCE = 4
QUESTIONS = (
    "What does the waggle dance say?",
    "How does a colony survive the winter?",
    "What do drones do?",
    "Why did the board change the time?",
    "Why do adolescents sleep late?",
)
_UNDER_WAY = re.compile(r"^disco_rag_requests_under_way (\S+)$", re.MULTILINE)


def give_texts(client: httpx.Client, trial: Trial, documents: int = DOCUMENTS) -> None:
    """Give the tenant some of the example texts."""
    files = {f.name: f.read_text(encoding="utf-8") for f in write_texts(trial.folder / "texts", documents)}
    settle(client, [promised(client, "default", files)], seconds=10 * PATIENCE_S)


def slow(body: dict[str, Any]) -> Scripted:
    """The usual reply, later, and streamed slowly."""
    reply = respond(body)
    return replace(reply, delay_s=CALL_S, pause_s=WRITING_S / (1 + len(reply.text or "") // _PIECE))


def disconnects(trial: Trial) -> Figures:
    """`leave_all` with a server and a language model of their own."""
    home = Home.create(trial.folder / "home", [TENANT])
    with (
        ScriptedServer(slow) as model,
        ApiServer(home, language_model(model)) as server,
        server.client(TENANT) as client,
    ):
        give_texts(client, trial)
        return leave_all(client, model, trial)


def leave_all(client: httpx.Client, model: ScriptedServer, trial: Trial) -> Figures:
    """``trial.count`` streams, half of them /ask, half chat, each left at a random moment."""
    rng, after = random.Random(trial.seed), list[float]()
    for number in range(trial.count):
        question = f"{rng.choice(QUESTIONS)} ({number})"  # no reply is taken from a cache
        leave(client, number % 2 == 1, question, rng.uniform(0.05, CALLS * CALL_S + WRITING_S))
        after.append(worked(client, model))
        trial.tick()
    return {
        "work_after_s": round(quantiles(after, n=20, method="inclusive")[-1], 2) if len(after) > 1 else after[0],
        "median_s": round(median(after), 2),
        "slowest_s": round(max(after), 2),
        "a_whole_answer_takes_s": CALLS * CALL_S + WRITING_S,
    }


def leave(client: httpx.Client, chat: bool, question: str, after_s: float) -> None:
    """Ask for a stream over a connection of its own, and drop it after so many seconds."""
    talk = {"model": "disco-rag", "stream": True, "messages": [{"role": "user", "content": question}]}
    path, body = ("/v1/chat/completions", talk) if chat else ("/ask", {"query": question})
    data, url = json.dumps(body).encode(), client.base_url
    lines = (
        f"POST {path} HTTP/1.1",
        f"Host: {url.host}",
        f"Authorization: {client.headers.get('Authorization', 'none')}",
        "Content-Type: application/json",
        "Accept: text/event-stream",
        f"Content-Length: {len(data)}",
    )
    with socket.create_connection((url.host, url.port or 80)) as connection:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        time.sleep(after_s)


def worked(client: httpx.Client, model: ScriptedServer) -> float:
    """Seconds until the server was quiet, from now."""
    start = busy = time.monotonic()
    calls = len(model.requests)
    while time.monotonic() - busy < CALL_S + 0.5 and time.monotonic() - start < PATIENCE_S:
        found = _UNDER_WAY.search(client.get("/metrics").text)
        if (found and float(found.group(1)) > 1) or len(model.requests) > calls or model.streaming:
            busy, calls = time.monotonic(), len(model.requests)
        time.sleep(0.05)
    return busy - start


def soak(trial: Trial) -> Figures:
    """`soaked` with a server of its own."""
    home = Home.create(trial.folder / "home", [TENANT])
    with ApiServer(home) as server, server.client(TENANT) as client:
        give_texts(client, trial)
        return soaked(client, server.pid, trial)


def soaked(client: httpx.Client, pid: int, trial: Trial) -> Figures:
    """``trial.count`` asks of local engines, `AT_ONCE` at a time, no two alike."""
    statuses, samples, start = Counter[int](), list[tuple[float, float]](), time.monotonic()

    def ask(number: int) -> None:
        query = f"{QUESTIONS[number % len(QUESTIONS)]} ({number})"
        statuses[client.post("/ask", json={"query": query}).status_code] += 1
        samples.append(footprint(pid))
        trial.tick()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(ask, range(trial.count)))
    memory, descriptors = [m for m, _ in samples], [d for _, d in samples]
    return {
        "memory_growth_pct": round(100 * growth(memory) / tenth(memory, 1), 2),
        "descriptor_growth": round(growth(descriptors)),
        "not_answered": sum(statuses.values()) - statuses[httpx.codes.OK],
        "asks_per_s": round(trial.count / (time.monotonic() - start), 1),
        "rss_mb": [round(tenth(memory, t)) for t in range(10)],
        "descriptors": [round(tenth(descriptors, t)) for t in range(10)],
    }


def footprint(pid: int) -> tuple[float, float]:
    """Resident memory in MB (10^6 bytes) and open descriptors of a process with its children."""
    rss = descriptors = 0.0
    process = psutil.Process(pid)
    for one in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            rss += one.memory_info().rss / 1e6
            descriptors += one.num_fds()
    return rss, descriptors


def tenth(samples: Sequence[float], number: int) -> float:
    """Median of a tenth of the samples, from 0; of all, where there are fewer than ten."""
    size = len(samples) // 10
    return median(samples[number * size : (number + 1) * size] if size else samples)


def growth(samples: Sequence[float]) -> float:
    """By how much the last tenth is above the second."""
    return tenth(samples, 9) - tenth(samples, 1)
