"""Workers and the database killed while files are sent: what was accepted is stored once, and nothing else."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from signal import SIGKILL

import psutil

from bench.serving.server import ApiServer, Home
from bench.trust.jobs import note, upload
from bench.trust.server_kills import compare
from bench.trust.trial import Figures, Trial
from discorag.config import StoreSettings
from discorag.schema.errors import InvariantError
from discorag.store.store import open_store
from tests.servers.postgres import PostgresServer

TENANT = "one"
FILES = 4
"""Sent before each kill."""
_SETTINGS = {"PARSER__KIND": "rules"}


def of_workers(trial: Trial, database: str) -> Figures:
    """``trial.count`` kills of one of two workers, at random moments."""

    def kill(server: ApiServer, rng: random.Random) -> None:
        children = [p for p in psutil.Process(server.pid).children() if p.status() != psutil.STATUS_ZOMBIE]
        os.kill(rng.choice([p.pid for p in children if "spawn_main" in " ".join(p.cmdline())]), SIGKILL)

    return _kill_while_sending(trial, database, kill)


def of_database(trial: Trial, database: str, postgres: PostgresServer) -> Figures:
    """``trial.count`` times PostgreSQL is stopped ``immediate``, and started again a moment later."""

    def kill(_: ApiServer, rng: random.Random) -> None:
        postgres.stop("immediate")
        time.sleep(rng.uniform(0.0, 2.0))
        postgres.start()

    return _kill_while_sending(trial, database, kill)


def _kill_while_sending(trial: Trial, database: str, kill: Callable[[ApiServer, random.Random], None]) -> Figures:
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
        outcome = compare(client, accepted)
    with open_store(StoreSettings.model_validate({"database_url": database})) as store:
        report = store.check()
    return outcome | {"differences": len(report.differences)}
