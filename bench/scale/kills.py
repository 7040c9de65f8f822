"""Workers and PostgreSQL killed while files are sent: see `bench.trust.server_kills`."""

import random
import time

from bench.promises import Figures, Trial
from bench.server import ApiServer
from bench.trust.server_kills import kill_while_sending
from tests.servers.postgres import PostgresServer


def of_workers(trial: Trial, database: str) -> Figures:
    """``trial.count`` kills of one of two workers."""
    return kill_while_sending(trial, lambda server, rng: rng.choice(server.workers()).kill(), database)


def of_database(trial: Trial, database: str, postgres: PostgresServer) -> Figures:
    """``trial.count`` times PostgreSQL is stopped ``immediate``, and started again a moment later."""

    def restart(_: ApiServer, rng: random.Random) -> None:
        postgres.stop("immediate")
        time.sleep(rng.uniform(0.0, 2.0))
        postgres.start()

    return kill_while_sending(trial, restart, database)
