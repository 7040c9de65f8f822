"""More than one process over one PostgreSQL database: ``python -m bench.scale [NAME ...] [--count N] [--out FILE]``.

The servers are real: PostgreSQL, ``disco-rag serve --workers 2``; searches are exact. The machine is shared with other
work, so times are upper bounds and ratios are of the same run. Every experiment is written as by `bench.trust`.
"""

from collections.abc import Callable
from pathlib import Path

import typer

from bench.promises import Count, Experiment, Figures, Names, Out, Trial, run_experiments
from bench.scale import catalogue, kills, on_ray, shared
from bench.trust import probes, server_kills
from tests.servers.postgres import PostgresServer

RESULTS, PAGE = Path("bench/results/scale.json"), Path("docs/cluster.md")
_OPTIONS = "-c listen_addresses= -c shared_buffers=512MB -c max_wal_size=8GB -c maintenance_work_mem=512MB"


def experiments(server: PostgresServer, new: Callable[[], str]) -> dict[str, Experiment]:
    """What is done, how often, and what may come of it."""

    def leaks(trial: Trial) -> Figures:
        return probes.run(trial, {"DATABASE_URL": new()}, workers=2)

    return {
        "worker_kills": Experiment(
            "`kill -9` of a worker", 10, server_kills.NONE, lambda trial: kills.of_workers(trial, new())
        ),
        "database_kills": Experiment(
            "PostgreSQL stopped `immediate`",
            5,
            server_kills.NONE,
            lambda trial: kills.of_database(trial, new(), server),
        ),
        "two_ingests": Experiment(
            "two ingests of one folder", 3, {"lost": 0, "doubled": 0}, lambda trial: shared.two_ingests(trial, new)
        ),
        "leaks": Experiment(
            "requests with another tenant's ids, to two workers", 600, {"leaks": 0, "server_errors": 0}, leaks
        ),
        "workers": Experiment(
            "answers: processor time of two workers, compared with one",
            60,
            {"cost": 1.11},
            lambda trial: shared.workers(trial, new()),
        ),
        "actor_kills": Experiment(
            "`kill -9` of an actor of Ray", 5, on_ray.NONE, lambda trial: on_ray.kills_of_actors(trial, new)
        ),
        "driver_kills": Experiment(
            "`kill -9` of a driver of Ray", 5, on_ray.NONE, lambda trial: on_ray.kills_of_drivers(trial, new)
        ),
        "ray_cost": Experiment(
            "documents of 500 to 2,000 words: processor time of Ray, compared with plain, warm",
            200,
            {"cost": 1.11},
            lambda trial: on_ray.cost(trial, new),
        ),
        "catalogue": Experiment(
            "synthetic rows of documents: opening, and finding what changed among 1,000 files",
            10_000_000,
            {"open_and_changed_s": 2, "wrong": 0},
            lambda trial: catalogue.measure(trial, new()),
        ),
    }


def main(names: Names = None, count: Count = 0, out: Out = None) -> None:
    """Measure, write after each."""
    with PostgresServer(options=_OPTIONS) as server, server.databases() as new:
        run_experiments(experiments(server, new), RESULTS, PAGE, names, count, out)


if __name__ == "__main__":
    typer.run(main)
