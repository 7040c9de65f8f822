"""Uploads of two tenants to a server, and how long they take: jobs that are cancelled, files that are poison.

- `cancel_all`: ``stuck``: jobs of the other tenant that do not end well in `PATIENCE_S` after a cancellation.
- `poison_all`: ``block_of_others_s``: the longest that a small file of the other tenant took, from upload to done, less
  what such a file takes alone; ``crashes``: times that the server died.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from statistics import median
from typing import Any

import httpx
import psutil

from bench.serving.server import ApiServer, Home
from bench.trust import pdfs
from bench.trust.poisons import poisons
from bench.trust.trial import Figures, Trial

ATTACKER, OTHER = "attacker", "other"
PATIENCE_S = 30.0
ALONE = 5
"""Files whose times are what one takes alone."""
ROWS = (30, 80)
"""Of the tables in the PDFs that are cancelled."""
LATEST_S = 3.0
"""A job is cancelled within so many seconds."""
_POLL_S = 0.25
_OPEN = "not ended"
_LONGEST_S = 600.0
"""The attacker's jobs are waited for so long."""
_UPLOAD_EVERY_S = 1.0


def note(number: int) -> bytes:
    """A small Markdown file, like no other."""
    return f"# Note {number}\n\nThe tide of note {number} rises twice a day, because the moon pulls the sea.\n".encode()


def upload(client: httpx.Client, name: str, data: bytes) -> str:
    """The id of the job; empty if the server did not take it."""
    with suppress(httpx.HTTPError):
        reply = client.post("/ingest", files=[("files", (name, data))])
        if reply.is_success:
            return reply.json()["job"]["id"]
    return ""


def ended(client: httpx.Client, job: str, within_s: float) -> dict[str, Any] | None:
    """A job when it has ended; None if it has not after so many seconds, or the server does not answer."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        with suppress(httpx.HTTPError, KeyError, ValueError):
            if (said := client.get(f"/ingest/{job}").json()["job"])["ended"]:
                return said
        time.sleep(_POLL_S)
    return None


def seconds_of(client: httpx.Client, number: int, within_s: float) -> tuple[float, str]:
    """What a small file takes from its upload to the end of its job, and how that ended."""
    start = time.monotonic()
    job = upload(client, f"note-{number}.md", note(number))
    found = ended(client, job, within_s) if job else None
    status = "refused" if not job else found["status"] if found else _OPEN
    return time.monotonic() - start, status


def alone(client: httpx.Client) -> float:
    """Median seconds of a small file while nothing else is going on; the first ones load models."""
    for number in range(2):
        seconds_of(client, 10_000 + number, PATIENCE_S)
    return median(seconds_of(client, 20_000 + number, PATIENCE_S)[0] for number in range(ALONE))


def home_of(trial: Trial) -> Home:
    """For a server with both tenants."""
    return Home.create(trial.folder / "home", [ATTACKER, OTHER])


def _slow(rng: random.Random, number: int) -> tuple[str, bytes]:
    """A file to be cancelled: seconds of work, or a moment's."""
    if rng.random() < 0.5:
        return f"slow-{number}.pdf", pdfs.grid(
            rng.randrange(*ROWS), rng.randrange(10, 25), outside=rng.randrange(10_000)
        )
    text = b" ".join(b"The tide of hour %d rises, because the moon pulls." % i for i in range(rng.randrange(10, 150)))
    return f"slow-{number}.md", text


def cancelled(trial: Trial) -> Figures:
    """`cancel_all` against a server of its own."""
    with ApiServer(home_of(trial)) as server, server.client(ATTACKER) as attacker, server.client(OTHER) as other:
        return cancel_all(attacker, other, trial)


def cancel_all(attacker: httpx.Client, other: httpx.Client, trial: Trial) -> Figures:
    """``trial.count`` jobs of one tenant, each cancelled at a random moment; then the other uploads a small file."""
    rng, ends, took = random.Random(trial.seed), Counter[str](), list[float]()
    usual = alone(other)
    for number in range(trial.count):
        job = upload(attacker, *_slow(rng, number))
        time.sleep(rng.uniform(0.0, LATEST_S))
        attacker.delete(f"/ingest/{job}")
        seconds, status = seconds_of(other, number, PATIENCE_S)
        ends[status] += 1
        took.append(seconds)
        trial.tick()
    stuck = trial.count - ends["done"]
    return {"stuck": stuck, "ends": dict(ends), "slowest_s": round(max(took), 2), "alone_s": round(usual, 2)}


def poisoned(trial: Trial) -> Figures:
    """`poison_all` against a server of its own."""
    with ApiServer(home_of(trial)) as server, server.client(ATTACKER) as attacker, server.client(OTHER) as other:
        process = psutil.Process(server.pid)
        found = poison_all(attacker, other, poisons(trial.count, trial.seed), trial, process)
        errors = [line for line in server.log.others if "Traceback" in line or '"error"' in line]
    return found | {"errors_logged": len(errors), "errors_first": errors[:3]}


def poison_all(
    attacker: httpx.Client,
    other: httpx.Client,
    files: Sequence[tuple[str, bytes]],
    trial: Trial,
    server: psutil.Process,
) -> Figures:
    """These files at once of one tenant, while the other uploads a small file every second until they have ended."""
    usual, others, fates = alone(other), list[Future[tuple[float, str]]](), dict[str, str]()
    with ThreadPoolExecutor(256) as pool:
        jobs, began = {name: upload(attacker, name, data) for name, data in files}, time.monotonic()
        while len(fates) < len(jobs) and time.monotonic() - began < _LONGEST_S and _lives(server):
            others.append(pool.submit(seconds_of, other, len(others), _LONGEST_S))
            time.sleep(_UPLOAD_EVERY_S)
            for name in jobs.keys() - fates.keys():
                if (fate := _fate(attacker, jobs[name])) != _OPEN:
                    fates[name] = fate
                    trial.tick()
        took = [o.result() for o in others]
    return {
        "block_of_others_s": round(max(0.0, max(seconds for seconds, _ in took) - usual), 2),
        "crashes": int(not _lives(server)),
        "others": len(took),
        "others_not_done": sum(status != "done" for _, status in took),
        "alone_s": round(usual, 2),
        "poison": dict(Counter(fates.values())),
        "not_ended": sorted(jobs.keys() - fates.keys()),
    }


def _lives(server: psutil.Process) -> bool:
    return server.is_running() and server.status() != psutil.STATUS_ZOMBIE


def _fate(client: httpx.Client, job: str) -> str:
    """How a poison file's job ended: done, failed, refused at upload, not ended."""
    if not job:
        return "refused"
    with suppress(httpx.HTTPError, KeyError, ValueError):
        said = client.get(f"/ingest/{job}").json()["job"]
        return said["status"] if said["ended"] else _OPEN
    return _OPEN
