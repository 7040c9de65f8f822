"""A server killed inside DELETE: of a document that is gone, no file and no quota is left at the next start."""

import random
import sqlite3
import time
from contextlib import closing, suppress
from threading import Thread

import httpx

from bench.promises import Figures, Trial
from bench.server import PATIENCE_S, ApiServer, Home, note, upload, wait_for_job
from discorag.schema.document import Scope
from discorag.store.database import FILE

TENANT = "one"
NONE = {"left_files": 0, "left_quota": 0, "lost": 0}
"""The limits: nothing may be left over or lost."""
_WITHIN_S = 0.04  # a DELETE takes about as long


def run(trial: Trial) -> Figures:
    """``trial.count`` times: upload a file, DELETE its document, kill the server within `_WITHIN_S`, start it again."""
    rng, home = random.Random(trial.seed), Home.create(trial.folder / "home", [TENANT])
    folder = home.folder / "uploads" / "files" / Scope(tenant=TENANT).folder
    found, undone = dict.fromkeys(NONE, 0), 0
    with ApiServer(home, {"PARSER__KIND": "rules"}) as server, server.client(TENANT, timeout_s=60) as client:
        wait_for_job(client, upload(client, "kept.md", note(0)), PATIENCE_S)
        for life in range(1, trial.count + 1):
            name = f"note-{life}.md"
            wait_for_job(client, upload(client, name, note(life)), PATIENCE_S)
            deleting = Thread(target=_delete, args=(client, _documents(client)[name]))
            deleting.start()
            time.sleep(rng.uniform(0.0, _WITHIN_S))
            server.restart()
            deleting.join()
            stored, files = _documents(client), {file.name for file in folder.iterdir()}
            with closing(sqlite3.connect(home.folder / "store" / FILE)) as database:
                counted = {row[0] for row in database.execute("SELECT name FROM uploads")}
            found["left_files"] += len(files - stored.keys())
            found["left_quota"] += len(counted - stored.keys())
            found["lost"] += len((stored.keys() | {"kept.md"}) - (stored.keys() & files & counted))
            if name in stored:
                undone += 1
                client.delete(f"/documents/{stored[name]}").raise_for_status()
            trial.tick()
    return found | {"killed_before_the_delete": undone}


def _documents(client: httpx.Client) -> dict[str, str]:
    """Names and ids of the documents."""
    listed = client.get("/documents", params={"limit": 1000}).raise_for_status().json()["documents"]
    return {document["name"]: document["doc_id"] for document in listed}


def _delete(client: httpx.Client, doc_id: str) -> None:
    with suppress(httpx.HTTPError):  # the server is killed
        client.delete(f"/documents/{doc_id}")
