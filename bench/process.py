"""An ingest in a process of its own; says on stdout what it took, as JSON.

Run by `bench.speed`, because only a fresh process has a peak of memory that belongs to the job. The peak is Linux's
``VmHWM``: ``ru_maxrss`` of a child starts at what its parent held when it forked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from discorag.config import LlmSettings, StoreSettings, read_settings
from discorag.ingest.survey import Status
from discorag.schema.errors import InvariantError

CORES = 2


class Job(BaseModel):
    """What an ingest took: seconds by the clock and of processor time, without opening the pipeline; peak memory."""

    model_config = ConfigDict(frozen=True)

    seconds: float
    cpu_s: float
    peak_mb: float


def run(job: str, home: Path, arguments: Sequence[str]) -> Job:
    """Run ``ingest FOLDER`` into the store in ``home``, without a model.

    Raises:
        InvariantError: The process failed; what it wrote on stderr is the message.
    """
    command = [sys.executable, "-m", "bench.process", job, str(home), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvariantError(f"bench.process {job} failed: {done.stderr[-2000:]}")
    return Job.model_validate_json(done.stdout.splitlines()[-1])


def _ingest(home: Path, folder: str) -> Job:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    from discorag import DiscoRAG

    store, llm = StoreSettings(kind="edge", path=home / "store"), LlmSettings(base_url=None, cache=None)
    with DiscoRAG(read_settings().model_copy(update={"store": store, "llm": llm})) as rag:
        start, used = time.perf_counter(), time.process_time()
        outcomes = rag.ingest(folder).outcomes
        seconds, cpu_s = time.perf_counter() - start, time.process_time() - used
    if any(o.status is not Status.ADDED for o in outcomes):
        raise InvariantError(f"Not every document was stored: {[o.note for o in outcomes]}.")
    return Job(seconds=seconds, cpu_s=cpu_s, peak_mb=peak_mb())


def peak_mb() -> float:
    """Peak resident memory of this process, in MB (10^6 bytes)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024 / 1e6


if __name__ == "__main__":
    print(_ingest(Path(sys.argv[2]), sys.argv[3]).model_dump_json())  # noqa: T201
