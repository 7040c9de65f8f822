"""What two worker processes give over one, what is left of acknowledged documents when processes are killed, and what a
catalogue of ten million documents costs.

Usage: ``python -m bench.scale [--only load|kills|ray|catalogue] [--users N] [--seconds S] [--runs N] [--out FILE]``;
stores are temporary. What other commands wrote into the file stays.

- ``requests_per_server_cpu_s_2_over_1``: answers for each second of processor time of all processes of the server
  together, of two workers beside their keeper over one process; the median of pairs of runs, one after the other. Other
  load on the machine changes it little.
- ``processes_2_over_1``: answers a second, by the wall clock. The clients run on the same cores as the server, and so
  does whatever else does: ``load`` says how much.
- ``kills``: a process of the server is killed while documents come, `KILLS` times each kind. ``lost``: files that were
  acknowledged and then neither stored whole nor reported failed; ``doubled``: documents that are there twice. Of an
  ingest by Ray's engine an actor is killed, or who drives them, and the same command run again.
- ``ray_over_own``: small documents that an ingest stores for each second of processor time of all its processes, with
  ``--engine ray`` over the own engine, both warm (`bench.bulk`).

- ``catalogue_ms_at_10m``: milliseconds to open the catalogue of a store in a folder with ten million documents and to
  find what changed among a thousand files (`bench.catalogue`); ``catalogue`` has the growth, and the catalogue and the
  leases of many processes. Making the documents takes 10 GB of disk and a quarter of an hour.

The store is Qdrant Edge, with Loong's papers and QMSum's meetings; the questions are those of `bench.serve`.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL
from statistics import median
from typing import Annotated, Any

import httpx
import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console

from bench import bulk, catalogue
from bench.serving.corpus import texts
from bench.serving.library import real_questions, real_texts
from bench.serving.outcomes import Tally, rate
from bench.serving.promises import Promise, lost, post, promised, settle
from bench.serving.scenarios import ASKED, CORPUS, DEADLINE_S, LOADED, SETTLE_S, Bench, warm_up
from bench.serving.server import ApiServer, Home
from graphs.serving.middleware import GRACE_S

OUT = Path("bench/results/scale.json")
PARTS = ("load", "kills", "ray", "catalogue")
USERS, SECONDS, RUNS, WARM_S = 16, 30.0, 3, 45.0
STORE_S = 900.0
"""How long reading the documents may take."""
KILLS = 5
AT_ONCE = 2
"""Jobs that are sent before a kill, and after it."""


class Run(BaseModel):
    """Load on a server of so many workers.

    Args:
        workers: Processes that answer.
        requests_per_s: Answers a second.
        requests_per_cpu_s: Answers for each second of processor time of all processes of the server.
        cpu_s: Of the server, in seconds.
        load: Processes that ran or wanted to, on average over the last minute, when the run ended.
        tally: The questions.
    """

    model_config = ConfigDict(frozen=True)

    workers: int
    requests_per_s: float
    requests_per_cpu_s: float
    cpu_s: float
    load: float
    tally: Tally


def loaded(bench: Bench, workers: int, number: int) -> Run:
    """One run."""
    asked = real_questions()
    settings = {"API__WORKERS": str(workers), "API__DEADLINE_S": str(DEADLINE_S), "LLM__CACHE": ""}
    with ApiServer(bench.home, settings) as server:
        _wait_for(server, workers)
        warm_up(server, asked)
        with bench.lasting(WARM_S).load(server, f"warm-{workers}-{number}", asked=asked) as load:
            load.sent()
        before = server.cpu_s
        with bench.load(server, f"load-{workers}-{number}", asked=asked) as load:
            sent = load.sent()
        used = server.cpu_s - before
    answered = sum(not s.is_error for s in sent)
    return Run(
        workers=workers,
        requests_per_s=rate(sent, bench.seconds),
        requests_per_cpu_s=round(answered / used, 3),
        cpu_s=round(used, 1),
        load=round(os.getloadavg()[0], 1),
        tally=Tally.of(sent, within_s=DEADLINE_S + GRACE_S),
    )


def compared(runs: list[Run], of: Callable[[Run], float]) -> float:
    """The median over pairs of runs of what two workers give over what one gives."""
    one, two = ([of(r) for r in runs if r.workers == n] for n in (1, 2))
    return round(median(b / a for a, b in zip(one, two, strict=True)), 3)


def killed(home: Home, victims: Callable[[ApiServer], list[int]], seed: int = 0) -> dict[str, Any]:
    """Kill a process `KILLS` times while documents come; what was kept of them."""
    rng, promises, refused = random.Random(seed), list[Promise](), 0
    with ApiServer(home, {"API__WORKERS": "2"}) as server, server.client(LOADED) as client:
        for kill in range(KILLS):
            _wait_for(server, 2)
            for part in ("before", "after"):
                made = [post(client, CORPUS, _files(f"{kill}-{part}-{i}")) for i in range(AT_ONCE)]
                promises += [m for m in made if isinstance(m, Promise)]
                refused += sum(not isinstance(m, Promise) for m in made)
                if part == "before":
                    time.sleep(rng.uniform(0.0, 2.0))
                    os.kill(rng.choice(victims(server)), SIGKILL)
        gone = lost(client, promises, seconds=SETTLE_S)
        twice = [name for name, n in _names(client).items() if n > 1]
    kept = {"lost": len(gone), "doubled": len(twice), "acknowledged": sum(len(p.names) for p in promises)}
    return {"kills": KILLS, **kept, "jobs_refused": refused, "what": [*gone, *twice][:5]}


def _files(name: str) -> dict[str, str]:
    return {f"{name}-{file}": f"{text}\n\nThis is copy {name}.\n" for file, text in texts()["bees"].items()}


def _names(client: httpx.Client) -> Counter[str]:
    listed = client.get("/documents", params={"corpus": CORPUS, "limit": 1000}).raise_for_status().json()
    return Counter(d["name"] for d in listed["documents"])


def _wait_for(server: ApiServer, workers: int) -> None:
    while workers > 1 and (len(server.workers()) < workers or not server.keepers()):
        time.sleep(0.1)


def _kills(folder: Path) -> dict[str, Any]:
    kinds: dict[str, Callable[[ApiServer], list[int]]] = {
        "worker": lambda server: server.workers(),
        "keeper": lambda server: server.keepers(),
    }
    return {kind: killed(Home.made(folder / kind, [LOADED]), victims) for kind, victims in kinds.items()}


def _speed(folder: Path, users: int, seconds: float, count: int, console: Console) -> dict[str, Any]:
    bench = Bench(folder, Home.made(folder / "load", [ASKED, LOADED]), users, seconds)
    with ApiServer(bench.home) as server, server.client(ASKED) as client:
        stored = [promised(client, corpus, files) for corpus, files in real_texts().items()]
        settle(client, stored, seconds=STORE_S)
    runs: list[Run] = []
    for number in range(count):
        for workers in (1, 2):
            runs.append(loaded(bench, workers, number))
            console.print(runs[-1].model_dump(exclude={"tally"}))
    return {
        "requests_per_server_cpu_s_2_over_1": compared(runs, lambda r: r.requests_per_cpu_s),
        "processes_2_over_1": compared(runs, lambda r: r.requests_per_s),
        "workers": {
            "store": "Qdrant Edge",
            "users": users,
            "seconds": seconds,
            "cores": len(os.sched_getaffinity(0)),
            "clients": "on the same cores",
            "runs": [r.model_dump(mode="json") for r in runs],
        },
    }


def main(
    only: Annotated[str | None, typer.Option(help=f"{', '.join(PARTS)}; default: all.")] = None,
    users: Annotated[int, typer.Option(min=1, help="Clients at once.")] = USERS,
    seconds: Annotated[float, typer.Option(min=2, help="Of each load.")] = SECONDS,
    runs: Annotated[int, typer.Option(min=1, help="Pairs of runs.")] = RUNS,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show, write."""
    console = Console()
    if only not in (None, *PARTS):
        raise typer.BadParameter(f"--only {only} is none of {', '.join(PARTS)}.")
    with tempfile.TemporaryDirectory() as folder:
        if only in (None, "load"):
            _kept(out, _speed(Path(folder), users, seconds, runs, console), console)
        if only in (None, "kills"):
            _kept(out, {"kills": _kills(Path(folder))}, console)
        if only in (None, "ray"):
            _kept(out, bulk.compared(Path(folder)), console)
            for whom in ("actor", "driver"):
                _kept(out, {"kills": {f"ray {whom}": bulk.killed(Path(folder) / whom, whom)}}, console)
        if only in (None, "catalogue"):
            _kept(out, catalogue.measured(Path(folder), console.print), console)


def _kept(out: Path, found: dict[str, Any], console: Console) -> None:
    """Write what was found beside what is there, and show it."""
    before: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    kills = before.get("kills", {}) | found.get("kills", {})
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(before | found | {"kills": kills}, indent=2) + "\n", encoding="utf-8")
    console.print({name: value for name, value in found.items() if name not in ("workers", "ray", "catalogue")})


if __name__ == "__main__":
    typer.run(main)
