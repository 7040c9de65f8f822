"""Several processes that use one database at a time."""

import subprocess
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from bench.product import PROGRAM, environment
from bench.promises import Figures, Trial
from bench.server import ApiServer, Home, note, upload, wait_for_job
from discorag.config import StoreSettings
from discorag.store.store import open_store

TENANT, FILES, QUESTIONS_AT_ONCE = "one", 20, 4


def two_ingests(trial: Trial, new_database: Callable[[], str]) -> Figures:
    """``trial.count`` times two processes ingest the same folder of `FILES` files at once."""
    folder, counts = trial.folder / "files", Counter[str]()
    folder.mkdir(parents=True)
    for number in range(FILES):
        (folder / f"{number}.md").write_bytes(note(number))
    for run in range(trial.count):
        database = new_database()
        own = {"DATABASE_URL": database, "PARSER__KIND": "rules"}
        ingests = [
            subprocess.Popen(
                [*PROGRAM, "ingest", str(folder)],
                env=environment(trial.folder / f"{run}-{at}" / "store", own),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for at in range(2)
        ]
        counts["failed"] += sum(ingest.wait() != 0 for ingest in ingests)
        with open_store(StoreSettings.model_validate({"database_url": database})) as store:
            report = store.check()
            with store.database.read() as db:
                uris = db.exec_driver_sql("SELECT uri FROM documents").scalars().all()
        found = Counter(Path(uri).name for uri in uris)
        counts["lost"] += FILES - len(found)
        counts["doubled"] += sum(count > 1 for count in found.values())
        counts["differences"] += len(report.differences)
        trial.tick()
    return {figure: counts[figure] for figure in ("lost", "doubled", "differences", "failed")}


def workers(trial: Trial, database: str) -> Figures:
    """Processor seconds per answer of two workers, compared with those of one: medians of three runs each, in turns."""
    home = Home.create(trial.folder / "home", [TENANT])
    settings = {"DATABASE_URL": database, "PARSER__KIND": "rules"}
    costs: dict[int, list[float]] = {1: [], 2: []}
    with ApiServer(home, settings) as server, server.client(TENANT) as client:
        for number in range(FILES):
            wait_for_job(client, upload(client, f"{number}.md", note(number)), 120)
    for _ in range(3):
        for count, found in costs.items():
            with ApiServer(home, settings, workers=count) as server:
                _ask(server, trial.count)  # every worker has loaded its models
                before = _seconds(server)
                _ask(server, trial.count)
                found.append((_seconds(server) - before) / trial.count)
                trial.tick()
    one, two = (median(found) for found in costs.values())
    return {"cost": round(two / one, 3), "one_s": round(one, 3), "two_s": round(two, 3)}


def _ask(server: ApiServer, count: int) -> None:
    def ask(number: int) -> None:
        with server.client(TENANT) as client:  # a connection each, which the system gives to any worker
            client.post("/ask", json={"query": f"Why does the tide of note {number % FILES} rise?"}).raise_for_status()

    with ThreadPoolExecutor(QUESTIONS_AT_ONCE) as pool:
        list(pool.map(ask, range(count)))


def _seconds(server: ApiServer) -> float:
    """Processor seconds of a server with its workers."""
    time.sleep(0.5)
    times = [p.cpu_times() for p in (server.process, *server.process.children(recursive=True))]
    return sum(t.user + t.system for t in times)
