"""Ingests on Ray: actors and drivers killed, and what Ray costs."""

import random
import re
import time
from collections.abc import Callable, Iterator
from subprocess import Popen

from bench.promises import ROOT, Figures, Trial
from tests.servers.on_ray import Home, short_texts, wait_for

DOCUMENTS = 40
NONE = {"lost": 0, "doubled": 0, "failed": 0}
WORDS = (500, 2_000)
WARM = 0.1
"""Share of the documents that are stored before processor time is counted."""


def kills_of_actors(trial: Trial, new_database: Callable[[], str]) -> Figures:
    """``trial.count`` kills of an actor in one ingest, each while it has documents."""
    home, rng = Home(trial.folder, new_database(), short_texts(DOCUMENTS * trial.count)), random.Random(trial.seed)
    ingest, seen = _start(home), set[int]()
    for _ in range(trial.count):
        wait_for(lambda: {a.pid for a in home.actors()} - seen, ingest)
        time.sleep(rng.uniform(0.0, 1.0))
        victim = next(a for a in home.actors() if a.pid not in seen)
        seen.add(victim.pid)
        victim.kill()
        trial.tick()
    return _compare(home, ingest.wait() == 0)


def kills_of_drivers(trial: Trial, new_database: Callable[[], str]) -> Figures:
    """``trial.count`` kills of the command, each followed by the same command."""
    home, rng = Home(trial.folder, new_database(), short_texts(DOCUMENTS)), random.Random(trial.seed)
    for _ in range(trial.count):
        ingest = _start(home)
        wait_for(home.actors, ingest)
        time.sleep(rng.uniform(0.0, 2.0))
        ingest.kill()
        ingest.wait()
        trial.tick()
    return _compare(home, _start(home).wait() == 0)


def cost(trial: Trial, new_database: Callable[[], str]) -> Figures:
    """Processor seconds per document of ``trial.count`` documents: Ray compared with plain, once both are warm."""
    plain, ray = (_cost(trial, new_database(), engine) for engine in ("plain", "ray"))
    return {"cost": round(ray / plain, 3), "plain_s": round(plain, 3), "ray_s": round(ray, 3)}


def _texts(trial: Trial) -> Iterator[str]:
    """Documents of `WORDS` words, of sentences of the example texts."""
    files = sorted((ROOT / "examples").glob("[!_z]*/*.md"))
    sentences = [line for file in files for line in re.split(r"(?<=[.!?])\s+", file.read_text("utf-8"))]
    rng = random.Random(trial.seed)
    for _ in range(trial.count):
        words, wanted, chosen = 0, rng.randint(*WORDS), list[str]()
        while words < wanted:
            chosen.append(rng.choice(sentences))
            words += len(chosen[-1].split())
        yield " ".join(chosen)


def _cost(trial: Trial, database: str, engine: str) -> float:
    home, spent = Home(trial.folder / engine, database, _texts(trial)), dict[int, float]()

    def progress() -> tuple[int, float]:
        """Documents stored, and the seconds that all processes took until then or until they ended."""
        spent.update({p.pid: sum(p.cpu_times()[:2]) for p in home.processes()})
        return home.count(), sum(spent.values())

    ingest = _start(home, engine)
    wait_for(lambda: home.count() >= WARM * trial.count, ingest)
    first, cold = progress()
    last, warm = first, cold
    while ingest.poll() is None and last < trial.count:
        time.sleep(0.2)
        last, warm = progress()
    ingest.wait()
    return (warm - cold) / (last - first)


def _start(home: Home, engine: str = "ray") -> Popen[str]:
    return home.run("ingest", str(home.documents), "--parser", "rules", "--retriever", "dense", engine=engine)


def _compare(home: Home, well: bool) -> Figures:
    stored, names = home.stored(), {path.name for path in home.documents.iterdir()}
    return {
        "lost": len(names - stored.keys()),
        "doubled": sum(chunks != 1 for chunks in stored.values()),
        "failed": int(not well),
        "documents": len(names),
    }
