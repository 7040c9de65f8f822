"""A server, a worker or the database killed while files are sent: what was accepted is stored once, nothing else."""

import random
import time
from collections import Counter
from collections.abc import Callable

from bench.promises import Figures, Trial
from bench.server import NOT_ENDED, PATIENCE_S, ApiServer, Home, note, upload, wait_for_job
from discorag.config import StoreSettings
from discorag.schema.errors import InvariantError
from discorag.store.store import open_store

TENANT, FILES = "one", 4
NONE = {"lost": 0, "doubled": 0, "not_ended": 0, "differences": 0}
"""What may come of it."""
Kill = Callable[[ApiServer, random.Random], None]


def run(trial: Trial) -> Figures:
    """``trial.count`` kills of a server over a folder."""
    return kill_while_sending(trial, lambda server, _: server.restart())


def kill_while_sending(trial: Trial, kill: Kill, database: str | None = None) -> Figures:
    """Send `FILES` files to a server ``trial.count`` times, and kill something within the next second each time.

    The server has two workers over the PostgreSQL ``database``, or one over a folder.
    """
    rng, home, jobs = random.Random(trial.seed), Home.create(trial.folder / "home", [TENANT]), dict[str, str]()
    store = StoreSettings.model_validate({"database_url": database, "path": home.folder / "store"})
    settings = {"PARSER__KIND": "rules"} | ({"DATABASE_URL": database} if database else {})
    workers = 2 if database else 1
    with ApiServer(home, settings, workers=workers) as server, server.client(TENANT, timeout_s=60) as client:
        for life in range(trial.count):
            for number in range(FILES):
                name = f"note-{life}-{number}.md"
                if job := upload(client, name, note(1000 * life + number)):
                    jobs[name] = job
            time.sleep(rng.uniform(0.0, 1.0))
            kill(server, rng)
            if not server.is_running:
                raise InvariantError(f"The server ended: {list(server.log)}")
            trial.tick()
        fates = [wait_for_job(client, job, PATIENCE_S) for job in jobs.values()]
        listed = client.get("/documents", params={"limit": 1000}).raise_for_status().json()["documents"]
    names = Counter(document["name"] for document in listed)
    with open_store(store) as opened:
        report = opened.check()
    return {
        "lost": sum(name not in names for name in jobs),
        "doubled": sum(count > 1 for count in names.values()),
        "not_ended": fates.count(NOT_ENDED),
        "differences": len(report.differences),
        "accepted": len(jobs),
        "statuses": dict(Counter(fates)),
    }
