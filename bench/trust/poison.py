"""Poison files of one tenant, and how long those of another take meanwhile.

``block_of_others_s``: the longest that a small file of the other tenant took, from upload to done, less what such a
file takes alone; ``crashes``: whether the server died.
"""

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from statistics import median

import httpx
import psutil

from bench.promises import Figures, Trial
from bench.server import NOT_ENDED, ApiServer, Home, note, upload, wait_for_job
from bench.trust.poisons import poisons

ATTACKER, OTHER = "attacker", "other"
ALONE = 5
"""Files by which the time of one alone is measured."""
_ALONE_S = 30.0
_LONGEST_S = 600.0
"""The attacker's jobs are waited for at most this long."""
_UPLOAD_EVERY_S = 1.0


def seconds_of(client: httpx.Client, number: int, within_s: float) -> tuple[float, str]:
    """What a small file takes from its upload to the end of its job, and how that ended."""
    start = time.monotonic()
    status = wait_for_job(client, upload(client, f"note-{number}.md", note(number)), within_s)
    return time.monotonic() - start, status


def alone(client: httpx.Client) -> float:
    """Median seconds of a small file while nothing else is going on; the first ones load models."""
    for number in range(2):
        seconds_of(client, 10_000 + number, _ALONE_S)
    return median(seconds_of(client, 20_000 + number, _ALONE_S)[0] for number in range(ALONE))


def run(trial: Trial) -> Figures:
    """`poison_all` against a server of its own."""
    home = Home.create(trial.folder / "home", [ATTACKER, OTHER])
    with ApiServer(home) as server, server.client(ATTACKER) as attacker, server.client(OTHER) as other:
        found = poison_all(attacker, other, poisons(trial.count, trial.seed), trial, server.process)
        errors = [line for line in server.log if "Traceback" in line or '"error"' in line]
    return found | {"errors_logged": len(errors), "errors_first": errors[:3]}


def poison_all(
    attacker: httpx.Client,
    other: httpx.Client,
    files: Sequence[tuple[str, bytes]],
    trial: Trial,
    server: psutil.Process,
) -> Figures:
    """One tenant uploads these files at once, the other a small file every second until their jobs have ended."""
    usual, others, fates = alone(other), list[Future[tuple[float, str]]](), dict[str, str]()
    with ThreadPoolExecutor(256) as pool:
        jobs, began = {name: upload(attacker, name, data) for name, data in files}, time.monotonic()
        while len(fates) < len(jobs) and time.monotonic() - began < _LONGEST_S and _lives(server):
            others.append(pool.submit(seconds_of, other, len(others), _LONGEST_S))
            time.sleep(_UPLOAD_EVERY_S)
            for name in jobs.keys() - fates.keys():
                if (fate := wait_for_job(attacker, jobs[name], 0)) != NOT_ENDED:
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
        "not_ended": len(jobs.keys() - fates.keys()),
    }


def _lives(server: psutil.Process) -> bool:
    return server.is_running() and server.status() != psutil.STATUS_ZOMBIE
