"""The server killed at random moments while files are sent: what was accepted is stored once, and nothing else."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from signal import SIGKILL

import httpx

from bench.serving.server import ApiServer, Home
from bench.trust.jobs import ended, note, upload
from bench.trust.trial import Figures, Trial
from discorag.config import StoreSettings
from discorag.store.store import open_store

TENANT = "one"
FILES = 6
"""Sent in each life of the server."""
LATEST_S = 6.0
"""It is killed within so many seconds of its start."""
PATIENCE_S = 300.0
_SETTINGS = {"PARSER__KIND": "rules"}


def run(trial: Trial) -> Figures:
    """``trial.count`` lives of a server; then one in which all jobs end."""
    rng, home = random.Random(trial.seed), Home.create(trial.folder / "home", [TENANT])
    accepted: dict[str, str] = {}
    for life in range(trial.count):
        server = ApiServer(home, _SETTINGS)
        accepted |= _sent(server, life, time.monotonic() + rng.uniform(0.0, LATEST_S), rng)
        server.end(SIGKILL)
        trial.tick()
    with ApiServer(home, _SETTINGS) as server, server.client(TENANT) as client:
        outcome = compare(client, accepted)
    with open_store(StoreSettings(path=home.folder / "store")) as store:
        report, reason = store.check(), store.index_note
    return outcome | {"differences": len(report.differences) + bool(reason)}


def compare(client: httpx.Client, accepted: Mapping[str, str]) -> Figures:
    """What became of the files that were accepted, name -> job, when their jobs have ended."""
    jobs = {name: ended(client, job, PATIENCE_S) for name, job in accepted.items()}
    names = Counter(d["name"] for d in client.get("/documents", params={"limit": 1000}).json()["documents"])
    return {
        "lost": sum(name not in names for name in accepted),
        "doubled": sum(count > 1 for count in names.values()),
        "not_ended": sum(job is None for job in jobs.values()),
        "accepted": len(accepted),
        "statuses": dict(Counter(job["status"] if job else "not ended" for job in jobs.values())),
    }


def _sent(server: ApiServer, life: int, until: float, rng: random.Random) -> dict[str, str]:
    """The files that were accepted until then, with their jobs."""
    found: dict[str, str] = {}
    with server.client(TENANT, timeout_s=10) as client:
        for number in range(FILES):
            name = f"note-{life}-{number}.md"
            if job := upload(client, name, note(1000 * life + number)):
                found[name] = job
            with suppress(httpx.HTTPError):
                time.sleep(rng.uniform(0.0, max(0.0, until - time.monotonic()) / FILES))
    time.sleep(max(0.0, until - time.monotonic()))
    return found
