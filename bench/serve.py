"""The HTTP API under load and under faults: what became of every request, and of everything that was acknowledged.

Usage: ``python -m bench.serve [--only NAME ...] [--users N] [--seconds S] [--out FILE]``; stores are temporary.

The server is a process of its own (``disco-rag serve``), the clients are locust's, in a third one; all share the cores.
First comes load alone: local engines, a Qdrant Edge store with Loong's papers and QMSum's meetings. Then load on the
repository's example texts while something breaks, in turn (`bench.serving.scenarios`), and at last requests of many
tenants that must not see each other (`bench.serving.leaks`). Every request must end in an answer, an answer whose
ledger says what was stood in for, or an error that says what is wrong under the right status, not later than the
deadline and the server's grace.

- ``errors``: requests of the load alone that were not answered.
- ``memory_growth_pct``: resident memory of the server in the last tenth of the load against its first tenth, after the
  same load for `WARM_SHARE` of that time.
- ``lost``: files that were acknowledged and then neither stored whole nor reported failed, over all faults.
- ``wrong``: requests of all faults that ended otherwise than they may.
- ``leaks``: responses that showed another tenant's word or ids, or did something to what is another's.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from threading import Event, Thread
from typing import Annotated, Any

import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from bench.serving.leaks import probe, settled_in, tenants, touched
from bench.serving.library import real_questions, real_texts
from bench.serving.outcomes import Outcome, Tally, rate
from bench.serving.scenarios import ASKED, LOADED, SCENARIOS, Bench, Scenario, store_examples, warm_up
from bench.serving.server import ApiServer, Home
from graphs.serving.middleware import GRACE_S

OUT = Path("bench/results/serve.json")
USERS, SECONDS, FAULT_SECONDS = 50, 120.0, 30.0
DEADLINE_S = 120.0
WARM_SHARE = 0.5
TENANTS, PROBES = 20, 10_000
LOAD, LEAKS = "load", "leaks"
NAMES = (LOAD, *SCENARIOS, LEAKS)
COLUMNS = (
    "",
    "requests",
    "answered",
    "fallback",
    "error",
    "refused",
    "wrong",
    "p50, s",
    "p99, s",
    "slowest, s",
    "lost",
)
_SAMPLE_S = 1.0
_VERSIONS = ("locust", "uvicorn", "fastapi", "qdrant-edge-py")


class Under(BaseModel):
    """The server under load alone.

    Args:
        requests_per_s: Answers a second.
        first_question_s: The first question after the start, which loads models.
        memory_growth_pct: See the module.
        rss_mb: Resident memory, every `_SAMPLE_S` seconds of the load, in MB (10^6 bytes).
        tally: The questions.
    """

    model_config = ConfigDict(frozen=True)

    requests_per_s: float
    first_question_s: float
    memory_growth_pct: float
    rss_mb: list[float]
    tally: Tally

    @property
    def errors(self) -> int:
        """Requests that were not answered."""
        return sum(self.tally.errors.values())


class Watch:
    """Samples a server's memory between ``with`` and its end."""

    def __init__(self, server: ApiServer) -> None:
        self.rss_mb: list[float] = []
        self._server = server
        self._over = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._over.wait(_SAMPLE_S):
            self.rss_mb.append(round(self._server.rss_mb, 1))

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def growth_pct(samples: Sequence[float]) -> float:
    """The mean of the last tenth against the mean of the first tenth, per cent; 0 of no samples."""
    if not samples:
        return 0.0
    tenth = max(1, len(samples) // 10)
    first, last = fmean(samples[:tenth]), fmean(samples[-tenth:])
    return round(100 * (last / first - 1), 2)


def loaded(bench: Bench) -> Under:
    """The server under load alone."""
    with ApiServer(bench.home, {"API__DEADLINE_S": str(DEADLINE_S)}) as server:
        asked = real_questions()
        first = warm_up(server, asked)
        with bench.lasting(WARM_SHARE * bench.seconds).load(server, "warm-up", asked=asked) as load:
            load.sent()
        with bench.load(server, LOAD, asked=asked) as load, Watch(server) as watch:
            time.sleep(bench.seconds)
            sampled = list(watch.rss_mb)
            sent = load.sent()
    return Under(
        requests_per_s=rate(sent, bench.seconds),
        first_question_s=round(first, 2),
        memory_growth_pct=growth_pct(sampled),
        rss_mb=sampled,
        tally=Tally.of(sent, within_s=DEADLINE_S + GRACE_S),
    )


def leaked(folder: Path, count: int, seed: int = 0) -> dict[str, Any]:
    """``count`` randomised requests of `TENANTS` tenants."""
    home, start = Home.made(folder / LEAKS, tenants(TENANTS)), time.monotonic()
    with ApiServer(home) as server:
        owners = settled_in(server, list(home.keys), seed)
        leaks = asyncio.run(probe(server, owners, count, seed))
        leaks.found += touched(server, owners)
    return leaks.report() | {"tenants": TENANTS, "seconds": round(time.monotonic() - start)}


def result(
    under: Under | None, scenarios: Mapping[str, Scenario], leaks: Mapping[str, Any] | None, how: Mapping[str, Any]
) -> dict[str, Any]:
    """The result file; None stands for what was not measured."""
    return {
        "requests_per_s": under and under.requests_per_s,
        "p50_ms": under and under.tally.p50_ms,
        "p95_ms": under and under.tally.p95_ms,
        "p99_ms": under and under.tally.p99_ms,
        "errors": under.errors if under else None,
        "memory_growth_pct": under and under.memory_growth_pct,
        "lost": sum(len(s.lost) for s in scenarios.values()) if scenarios else None,
        "wrong": sum(wrong(s) for s in scenarios.values()) if scenarios else None,
        "leaks": leaks["leaks"] if leaks else None,
        LOAD: under and under.model_dump(mode="json"),
        "scenarios": {name: s.model_dump(mode="json") for name, s in scenarios.items()},
        "leak_requests": leaks,
        "how": dict(how),
    }


def wrong(scenario: Scenario) -> int:
    """Requests that ended otherwise than they may."""
    return scenario.tally.outcomes[Outcome.WRONG] if scenario.tally else 0


def cells(under: Under | None, scenarios: Mapping[str, Scenario]) -> list[list[str]]:
    """Rows under `COLUMNS`."""
    rows = [_cells("load alone", under.tally, "")] if under else []
    return rows + [_cells(s.what, s.tally, str(len(s.lost))) for s in scenarios.values()]


def _cells(what: str, tally: Tally | None, lost: str) -> list[str]:
    if tally is None:
        return [what, *[""] * (len(COLUMNS) - 2), lost]
    times = ("" if ms is None else f"{ms / 1000:.2f}" for ms in (tally.p50_ms, tally.p99_ms))
    counts = (f"{n:,}" for n in (tally.requests, *tally.outcomes.values()))
    return [what, *counts, *times, f"{tally.slowest_s:.1f}", lost]


def show(under: Under | None, scenarios: Mapping[str, Scenario], figures: Mapping[str, Any], console: Console) -> None:
    """The table for people, figures, and rows for ``bench/README.md``."""
    table = Table(title="What requests ended in")
    for column in COLUMNS:
        table.add_column(column, justify="right" if column else "left")
    for row in cells(under, scenarios):
        table.add_row(*row)
    console.print(table)
    for name, value in figures.items():
        if not isinstance(value, (dict, list)):
            console.print(f"{name}: {value}")
    for scenario in scenarios.values():
        console.print(scenario.what, scenario.notes, scenario.lost[:5])
    for row in cells(under, scenarios):
        console.print(f"| {' | '.join(row)} |", soft_wrap=True)


def main(
    only: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(NAMES)}; may be given several times.")] = None,
    users: Annotated[int, typer.Option(min=1, help="Clients at once.")] = USERS,
    seconds: Annotated[float, typer.Option(min=2, help="Of the load alone.")] = SECONDS,
    fault_seconds: Annotated[float, typer.Option(min=2, help="Of the load in each fault.")] = FAULT_SECONDS,
    probes: Annotated[int, typer.Option(min=1, help="Requests that look for leaks.")] = PROBES,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show, write."""
    console, chosen = Console(), only or NAMES
    if unknown := set(chosen) - set(NAMES):
        raise typer.BadParameter(f"{sorted(unknown)} are unknown; known are {', '.join(NAMES)}.")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), Home.made(Path(folder) / "home", [ASKED, LOADED]), users, seconds)
        console.print("Storing documents ...")
        with ApiServer(bench.home) as server:
            store_examples(server)
            if LOAD in chosen:
                store_examples(server, real_texts())
        under = loaded(bench) if LOAD in chosen else None
        scenarios = dict[str, Scenario]()
        for name in (n for n in SCENARIOS if n in chosen):
            console.print(f"{name} ...")
            scenarios[name] = SCENARIOS[name](bench.lasting(fault_seconds))
        leaks = leaked(Path(folder), probes) if LEAKS in chosen else None
    found = result(under, scenarios, leaks, how(users, seconds, fault_seconds))
    show(under, scenarios, found, console)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    console.print(f"Written to {out}.")


def how(users: int, seconds: float, fault_seconds: float) -> dict[str, Any]:
    """How it was run."""
    times = {"users": users, "think_time_s": 0, "seconds": seconds, "fault_seconds": fault_seconds}
    machine = {"cores": len(os.sched_getaffinity(0)), "runs": 1, "server_processes": 1}
    versions = {"python": platform.python_version(), **{name: version(name) for name in _VERSIONS}}
    return {**times, **machine, "engines": "local", "store": "Qdrant Edge", "versions": versions}


if __name__ == "__main__":
    typer.run(main)
