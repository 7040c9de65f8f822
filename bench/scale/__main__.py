"""More than one process over one PostgreSQL database: ``python -m bench.scale [NAME ...]``.

The servers are real: PostgreSQL, ``disco-rag serve --workers 2``; the index is exact search, or a substitute for a
Qdrant server. The machine is shared with others, so times are upper bounds and ratios are of the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.report import write
from bench.scale import catalogue, kills, on_ray, shared
from bench.trust import probes
from bench.trust.__main__ import measure
from bench.trust.results import broken
from bench.trust.trial import Experiment
from tests.servers.postgres import PostgresServer

OUT = Path("bench/results/scale.json")
NOTE = "One machine, two cores shared with other work; not run on several machines."


def experiments(server: PostgresServer, new: Callable[[], str]) -> dict[str, Experiment]:
    """What is done, how often, and what may come of it."""
    none: dict[str, float] = {"lost": 0, "doubled": 0, "not_ended": 0, "differences": 0}
    leaks = partial(probes.run, settings={"DATABASE_URL": new()}, workers=2)
    return {
        "worker_kills": Experiment("kill -9 of a worker", 10, none, lambda trial: kills.of_workers(trial, new())),
        "database_kills": Experiment(
            "PostgreSQL stopped immediate", 5, none, lambda trial: kills.of_database(trial, new(), server)
        ),
        "two_ingests": Experiment(
            "two ingests of one folder", 3, {"lost": 0, "doubled": 0}, lambda trial: shared.two_ingests(trial, new)
        ),
        "two_writers": Experiment(
            "two writers of one document", 200, {"wrong": 0}, lambda trial: shared.two_writers(trial, new())
        ),
        "leaks": Experiment("requests with another tenant's ids", 600, {"leaks": 0, "server_errors": 0}, leaks),
        "workers": Experiment("answers of one worker and of two", 60, {}, lambda trial: shared.workers(trial, new())),
        "actor_kills": Experiment(
            "kill -9 of an actor of Ray", 5, on_ray.NONE, lambda trial: on_ray.kills_of_actors(trial, new)
        ),
        "driver_kills": Experiment(
            "kill -9 of a driver of Ray", 5, on_ray.NONE, lambda trial: on_ray.kills_of_drivers(trial, new)
        ),
        "ray_cost": Experiment("documents by Ray over plain, warm", 1000, {}, lambda trial: on_ray.cost(trial, new)),
        "catalogue": Experiment(
            "synthetic rows", 10_000_000, {"open_and_changed_s": 2, "wrong": 0}, lambda t: catalogue.run(t, new)
        ),
    }


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Default: all.")] = None,
    count: Annotated[int, typer.Option(help="How often, for every experiment; 0: in full.")] = 0,
    seed: Annotated[int, typer.Option(help="Of what is random.")] = 0,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, and write after each."""
    console, failed = Console(), list[str]()
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with PostgresServer(options=_OPTIONS) as server, server.databases() as new, Progress(*columns) as progress:
        known = experiments(server, new)
        for name in names or [*known]:
            figures = measure(known[name], count or known[name].count, progress, name, seed)
            write(out, {"machine": NOTE, name: {"what": known[name].what} | figures})
            failed += [f"{name}: {figure} is {figures.get(figure)}" for figure in broken(known[name], figures)]
    console.print(f"Written to {out}.", *failed, sep="\n")
    if failed:
        raise typer.Exit(1)


_OPTIONS = "-c listen_addresses= -c shared_buffers=512MB -c max_wal_size=8GB -c maintenance_work_mem=512MB"

if __name__ == "__main__":
    typer.run(main)
