"""How long one tenant's questions and files wait while another sends as many as it can.

``ratio_50``, ``ratio_300``: median seconds of the other tenant's questions while the first keeps this many in flight,
divided by those of questions alone. ``upload_ratio``: the same for a small file, while the first tenant has 500 files
to be read and 50 questions in flight. ``slowdown``: how many files of the first tenant are read a second without these
questions, divided by how many with them.
"""

import time
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from threading import Event

import httpx

from bench.product import write_texts
from bench.promises import Figures, Trial
from bench.server import PATIENCE_S, ApiServer, Home, note, upload, wait_for_job
from bench.trust.pipeline import QUESTIONS

CROWD, OTHER = "crowd", "other"
IN_FLIGHT = (50, 300)
FILES, WITH_FILES = 500, 50
TEXTS = 6
WINDOW_S = 20.0
"""How long files are counted."""
_POLL_S = 0.01
_numbers = count()


def ask(client: httpx.Client) -> httpx.Response:
    """The reply to a question that was not asked before."""
    number = next(_numbers)
    return client.post("/ask", json={"query": f"{QUESTIONS[number % len(QUESTIONS)]} ({number})"})


def seconds_of_questions(client: httpx.Client, trial: Trial) -> float:
    """Median of a third of the trial's questions, one after another. Raises ``httpx.HTTPStatusError`` if one fails."""
    took = list[float]()
    for _ in range(max(1, trial.count // (1 + len(IN_FLIGHT)))):
        start = time.monotonic()
        ask(client).raise_for_status()
        took.append(time.monotonic() - start)
        trial.tick()
    return median(took)


@contextmanager
def in_flight(client: httpx.Client, questions: int) -> Generator[Counter[int]]:
    """In the block, this many questions are in flight all the time; refused ones are asked again when the server says.

    Yields:
        Replies by status, so far.
    """
    statuses, is_over = Counter[int](), Event()

    def keep_asking() -> None:
        while not is_over.is_set():
            reply = ask(client)
            statuses[reply.status_code] += 1
            if not reply.is_success:
                is_over.wait(float(reply.headers.get("Retry-After", 1)))

    with ThreadPoolExecutor(questions) as pool:
        for _ in range(questions):
            pool.submit(keep_asking)
        try:
            while not statuses:
                time.sleep(0.1)
            yield statuses
        finally:
            is_over.set()


@contextmanager
def clients(folder: Path) -> Generator[tuple[httpx.Client, httpx.Client]]:
    """Clients of both tenants of a server, which has texts of each."""
    home = Home.create(folder / "home", [CROWD, OTHER])
    with ApiServer(home) as server, server.client(CROWD) as crowd, server.client(OTHER) as other:
        for file in write_texts(folder / "texts", TEXTS):
            for client in (crowd, other):
                wait_for_job(client, upload(client, file.name, file.read_bytes()), PATIENCE_S)
        yield crowd, other


def measure_questions(trial: Trial) -> Figures:
    """Measure how long questions wait."""
    with clients(trial.folder) as (crowd, other):
        ask(other)
        usual = seconds_of_questions(other, trial)
        found: Figures = {"alone_s": round(usual, 3)}
        for questions in IN_FLIGHT:
            with in_flight(crowd, questions) as statuses:
                took = seconds_of_questions(other, trial)
            found |= {
                f"p50_{questions}_s": round(took, 3),
                f"ratio_{questions}": round(took / usual, 2),
                f"statuses_{questions}": dict(statuses),
            }
    return found


def measure_files(trial: Trial) -> Figures:
    """Measure how long files wait."""
    with clients(trial.folder) as (crowd, other):
        seconds_of_file(other)
        usual = median(seconds_of_file(other) for _ in range(trial.count))
        without = files_per_s(crowd)
        with in_flight(crowd, WITH_FILES) as statuses, ThreadPoolExecutor(1) as pool:
            counting = pool.submit(files_per_s, crowd)
            took = list[float]()
            for _ in range(trial.count):
                took.append(seconds_of_file(other))
                trial.tick()
            rate = counting.result()
    return {
        "alone_s": round(usual, 3),
        "upload_s": round(median(took), 3),
        "upload_ratio": round(median(took) / usual, 2),
        "files_per_s_without": round(without, 2),
        "files_per_s": round(rate, 2),
        "slowdown": round(without / rate, 2) if rate else None,
        "statuses": dict(statuses),
    }


def seconds_of_file(client: httpx.Client) -> float:
    """Seconds from the upload of a small file to the end of its job. Raises ``httpx.HTTPStatusError``."""
    number, start = next(_numbers), time.monotonic()
    parts = [("files", (f"one-{number}.md", note(number)))]
    job = client.post("/ingest", files=parts).raise_for_status().json()["job"]
    while not job["ended"]:
        time.sleep(_POLL_S)
        job = client.get(f"/ingest/{job['id']}").raise_for_status().json()["job"]
    return time.monotonic() - start


def files_per_s(client: httpx.Client) -> float:
    """How many of `FILES` small files are read a second, for `WINDOW_S` at most; the rest is cancelled."""
    parts = [("files", (f"crowd-{number}.md", note(number))) for number in (next(_numbers) for _ in range(FILES))]
    job = client.post("/ingest", files=parts).raise_for_status().json()["job"]["id"]
    start, took, read = time.monotonic(), 0.0, 0
    while took < WINDOW_S and read < FILES:
        time.sleep(0.25)
        read = client.get(f"/ingest/{job}").raise_for_status().json()["settled"]
        took = time.monotonic() - start
    client.delete(f"/ingest/{job}").raise_for_status()
    return read / took
