"""Thousands of asks in a row: whether memory and open files grow.

``memory_growth_pct`` and ``descriptor_growth``: medians of the last tenth of the asks compared with those of the second
tenth, of the server with its children.
"""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from statistics import median

import httpx
import psutil

from bench.product import write_texts
from bench.promises import Figures, Trial
from bench.server import PATIENCE_S, ApiServer, Home, upload, wait_for_job
from bench.trust.pipeline import QUESTIONS

TENANT, AT_ONCE = "asker", 4


def run(trial: Trial) -> Figures:
    """`ask_often` with a server of its own."""
    home = Home.create(trial.folder / "home", [TENANT])
    with ApiServer(home) as server, server.client(TENANT) as client:
        return ask_often(client, server.process, trial)


def ask_often(client: httpx.Client, process: psutil.Process, trial: Trial) -> Figures:
    """``trial.count`` asks of local engines, `AT_ONCE` at a time, no two alike."""
    for file in write_texts(trial.folder / "texts", 6):
        wait_for_job(client, upload(client, file.name, file.read_bytes()), PATIENCE_S)
    statuses, samples, start = Counter[int](), list[tuple[float, float]](), time.monotonic()

    def ask(number: int) -> None:
        query = f"{QUESTIONS[number % len(QUESTIONS)]} ({number})"
        statuses[client.post("/ask", json={"query": query}).status_code] += 1
        samples.append(footprint(process))
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
    }


def footprint(process: psutil.Process) -> tuple[float, float]:
    """Resident memory in MB (10^6 bytes) and open descriptors of a process with its children."""
    rss = descriptors = 0.0
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
