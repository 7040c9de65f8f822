"""Workers and PostgreSQL killed while files are sent: see `bench.trust.server_kills`."""

from __future__ import annotations

import random
import time

from bench.promises import Figures, Trial
from bench.server import ApiServer
from bench.trust.server_kills import Kill, kill_while_sending
from discorag.config import StoreSettings
from tests.servers.postgres import PostgresServer


def of_workers(trial: Trial, database: str) -> Figures:
    """``trial.count`` kills of one of two workers."""
    return _kill(trial, database, lambda server, rng: rng.choice(server.workers()).kill())


def of_database(trial: Trial, database: str, postgres: PostgresServer) -> Figures:
    """``trial.count`` times PostgreSQL is stopped ``immediate``, and started again a moment later."""

    def restart(_: ApiServer, rng: random.Random) -> None:
        postgres.stop("immediate")
        time.sleep(rng.uniform(0.0, 2.0))
        postgres.start()

    return _kill(trial, database, restart)


def _kill(trial: Trial, database: str, kill: Kill) -> Figures:
    store = StoreSettings.model_validate({"database_url": database})
    return kill_while_sending(trial, store, {"DATABASE_URL": database}, kill, workers=2)
