"""An ingest by Ray's actors beside one in this process, and kills of actors and of who drives them.

Usage: ``python -m bench.bulk own|ray FOLDER``: one ingest of a folder into a new store beside it; what it
took of the processors from the `WARM`-th document on is printed. The rest is called by `bench.scale`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path
from signal import SIGKILL
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from bench.growth import sentences
from discorag import DiscoRAG
from discorag.ingest.survey import Status
from discorag.settings import Settings
from nodes.results import IngestResult

DOCUMENTS, WARM, PAIRS = 1000, 50, 2
SENTENCES = 3
"""Of a small document."""
KILLS, KILLED_DOCUMENTS, KILLED_SENTENCES = 5, 60, 7
WAIT_S = 4.0, 14.0
"""From the start of an actor to its kill: it loads its models, and reads."""
ACTORS = 2


def compared(folder: Path, pairs: int = PAIRS) -> dict[str, Any]:
    """Documents for each second of processor time of all processes, Ray's over the own engine's."""
    written(folder / "small", DOCUMENTS + WARM, SENTENCES)
    runs = [_measured(engine, folder / "small") for _ in range(pairs) for engine in ("own", "ray")]
    ratios = [own["cpu_s"] / ray["cpu_s"] for own, ray in zip(runs[::2], runs[1::2], strict=True)]
    return {"ray_over_own": round(median(ratios), 3), "ray": {"actors": ACTORS, "documents": DOCUMENTS, "runs": runs}}


def written(folder: Path, documents: int, each: int) -> None:
    """Documents of so many sentences each, all different."""
    folder.mkdir()
    given = cycle(islice(sentences(), 3 * documents))
    for number in range(documents):
        text = " ".join(islice(given, each))
        (folder / f"{number:04}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")


def _measured(engine: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.bulk", engine, str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


class _Meter:
    """Processor time of this process and all below it, from the `WARM`-th document on."""

    def __init__(self) -> None:
        self._done, self._before, self._start = 0, 0.0, 0.0
        self._whole = psutil.Process()

    def on_event(self, event: dict[str, Any]) -> None:
        """Count documents."""
        self._done += event.get("event") == "document"
        if self._done == WARM and not self._before:
            self._before, self._start = self._cpu_s(), time.perf_counter()

    def told(self, engine: str) -> dict[str, Any]:
        """What it took since."""
        used, load = self._cpu_s() - self._before, os.getloadavg()[0]
        seconds = round(time.perf_counter() - self._start, 1)
        return {"engine": engine, "cpu_s": round(used, 1), "seconds": seconds, "load": round(load, 1)}

    def _cpu_s(self) -> float:
        return sum(sum(p.cpu_times()[:4]) for p in (self._whole, *self._whole.children(recursive=True)))


def _ingested(engine: str, folder: Path) -> dict[str, Any]:
    meter = _Meter()
    with TemporaryDirectory() as home, DiscoRAG(_settings(Path(home))) as rag:
        if engine == "own":
            rag.ingest(folder, progress=meter.on_event, index=False)
            return meter.told(engine)
        from graphs.bulk.actors import actors
        from graphs.bulk.documents import ingest_with

        with actors(rag, ACTORS) as there:
            rag.run(lambda: ingest_with(there, rag, str(folder), meter.on_event, index=False))
            return meter.told(engine)


def killed(folder: Path, whom: str, seed: int = 0) -> dict[str, Any]:
    """Kill an actor, or who drives them, `KILLS` times while documents are read; what is stored of them in the end.

    ``lost``: files that are neither stored whole nor reported failed; ``doubled``: documents that are there twice.
    """
    rng, docs = random.Random(seed), folder / "docs"
    folder.mkdir()
    written(docs, KILLED_DOCUMENTS, KILLED_SENTENCES)
    done, out = 0, ""
    while done < KILLS:
        ingest = _started(folder)
        while done < KILLS and (victim := _victim(ingest, whom, rng)):
            time.sleep(rng.uniform(*WAIT_S))
            if not victim.is_running():
                continue
            os.kill(victim.pid, SIGKILL)
            done += 1
        out, _ = ingest.communicate()
    if whom == "driver":
        out, _ = _started(folder).communicate()
    return {"kills": done, **_kept(folder, IngestResult.model_validate_json(out))}


def _kept(folder: Path, last: IngestResult) -> dict[str, Any]:
    failed = {o.uri for o in last.outcomes if o.status is Status.FAILED}
    with DiscoRAG(_settings(folder)) as rag:
        damaged = {d.uri for d in rag.resources.store.check().differences}
        names = Counter(m.uri for m in rag.documents())
    files = {str(file.resolve()) for file in (folder / "docs").iterdir()}
    lost = files - (names.keys() - damaged) - failed
    return {"lost": len(lost), "doubled": sum(n > 1 for n in names.values()), "reported_failed": len(failed)}


def _started(folder: Path) -> subprocess.Popen[str]:
    words = ["ingest", str(folder / "docs"), "--engine", "ray", "--actors", str(ACTORS), "--json"]
    command = [sys.executable, "-c", "from graphs.front import main; main()", *words]
    home = {"DISCO_RAG_STORE__PATH": str(_settings(folder).store.path), "COLUMNS": "100"}
    return subprocess.Popen(
        command, env=os.environ | home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def _victim(ingest: subprocess.Popen[str], whom: str, rng: random.Random) -> psutil.Process | None:
    """An actor that is at work, or the driver while one is; None when the ingest has ended."""
    whole = psutil.Process(ingest.pid)
    while ingest.poll() is None:
        try:
            found = [p for p in whole.children(recursive=True) if "MapWorker" in p.name()]
        except psutil.NoSuchProcess:
            continue
        if found:
            return whole if whom == "driver" else rng.choice(found)
        time.sleep(0.1)
    return None


def _settings(home: Path) -> Settings:
    return Settings.model_validate({"store": {"path": home / "store"}, "llm": {"cache": None}})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_ingested(sys.argv[1], Path(sys.argv[2]))) + "\n")
