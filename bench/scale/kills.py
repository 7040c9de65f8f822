"""Workers and the database killed while files are sent: what was accepted is stored once, and nothing else."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from signal import SIGKILL

import psutil

from bench.serving.server import ApiServer, Home
from bench.trust.jobs import ended, note, upload
from bench.trust.trial import Figures, Trial
from discorag.config import StoreSettings
from discorag.schema.errors import InvariantError
from discorag.store.store import open_store
from tests.servers.postgres import PostgresServer

TENANT = "one"
FILES = 4
"""Sent before each kill."""
PATIENCE_S = 300.0
_SETTINGS = {"PARSER__KIND": "rules"}


def of_workers(trial: Trial, database: str) -> Figures:
    """``trial.count`` kills of one of two workers, at random moments."""

    def kill(server: ApiServer, rng: random.Random) -> None:
        children = [p for p in psutil.Process(server.pid).children() if p.status() != psutil.STATUS_ZOMBIE]
        os.kill(rng.choice([p.pid for p in children if "spawn_main" in " ".join(p.cmdline())]), SIGKILL)

    return _killed(trial, database, kill)


def of_database(trial: Trial, database: str, postgres: PostgresServer) -> Figures:
    """``trial.count`` times PostgreSQL is stopped ``immediate``, and started again a moment later."""

    def kill(_: ApiServer, rng: random.Random) -> None:
        postgres.stop("immediate")
        time.sleep(rng.uniform(0.0, 2.0))
        postgres.start()

    return _killed(trial, database, kill)


def _killed(trial: Trial, database: str, kill: Callable[[ApiServer, random.Random], None]) -> Figures:
    rng, home = random.Random(trial.seed), Home.create(trial.folder / "home", [TENANT])
    accepted: dict[str, str] = {}
    settings = _SETTINGS | {"DATABASE_URL": database}
    with ApiServer(home, settings, workers=2) as server, server.client(TENANT, timeout_s=60) as client:
        for life in range(trial.count):
            for number in range(FILES):
                name = f"note-{life}-{number}.md"
                if job := upload(client, name, note(1000 * life + number)):
                    accepted[name] = job
            time.sleep(rng.uniform(0.0, 1.0))
            kill(server, rng)
            if not server.is_running:
                raise InvariantError(f"The server ended: {list(server.log.others)}")
            trial.tick()
        jobs = {name: ended(client, job, PATIENCE_S) for name, job in accepted.items()}
        names = Counter(d["name"] for d in client.get("/documents", params={"limit": 1000}).json()["documents"])
    with open_store(StoreSettings.model_validate({"database_url": database})) as store:
        report = store.check()
    return {
        "lost": sum(name not in names for name in accepted),
        "doubled": sum(count > 1 for count in names.values()),
        "not_ended": sum(job is None for job in jobs.values()),
        "differences": len(report.differences),
        "accepted": len(accepted),
        "statuses": dict(Counter(job["status"] if job else "not ended" for job in jobs.values())),
    }
