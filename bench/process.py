"""A process of its own for one job: ingest a folder, or answer questions; says on stdout what it took, as JSON.

Run by `bench.pipeline`, because only a fresh process has a peak of memory that belongs to the job. The peak is Linux's
``VmHWM``: ``ru_maxrss`` of a child starts at what its parent held when it forked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from discorag.ingest.survey import Status
from discorag.settings import LlmSettings, Settings, StoreSettings, read_settings
from discorag.types.errors import InvariantError

if TYPE_CHECKING:
    from discorag import DiscoRAG

CORES = 2


class Job(BaseModel):
    """What a job took: ``start_s`` until the pipeline was open (imports included), ``seconds`` for the job itself.

    ``cpu_s``: processor time of the job.
    """

    model_config = ConfigDict(frozen=True)

    start_s: float
    seconds: float
    cpu_s: float
    peak_mb: float
    stages: dict[str, float]


def run(job: str, home: Path, arguments: Sequence[str]) -> Job:
    """Run ``ingest FOLDER SWITCH=VALUE ...`` or ``ask QUESTION ...`` over the store in ``home``, without a model.

    Raises:
        InvariantError: The process failed; what it wrote on stderr is the message.
    """
    command = [sys.executable, "-m", "bench.process", job, str(home), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvariantError(f"bench.process {job} failed: {done.stderr[-2000:]}")
    return Job.model_validate_json(done.stdout.splitlines()[-1])


def settings(home: Path, base_url: str | None) -> Settings:
    """The user's settings with a store below ``home``, and the model at ``base_url`` without limits and cache."""
    llm = LlmSettings(base_url=base_url, model="scripted", context_tokens=10**9, cache=None, layout="inline")
    store = StoreSettings(kind="edge", path=home / "store")
    return read_settings().model_copy(update={"store": store, "llm": llm})


def _main(job: str, home: Path, arguments: Sequence[str]) -> None:
    start = time.perf_counter()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    from discorag import DiscoRAG

    with DiscoRAG(settings(home, None)) as rag:
        opened, used = time.perf_counter(), time.process_time()
        stages = _ingested(rag, *arguments) if job == "ingest" else _answered(rag, arguments)
        seconds, cpu_s = time.perf_counter() - opened, time.process_time() - used
    taken = Job(start_s=opened - start, seconds=seconds, cpu_s=cpu_s, peak_mb=peak_mb(), stages=stages)
    print(json.dumps(taken.model_dump()))  # noqa: T201


def _ingested(rag: DiscoRAG, folder: str, *switches: str) -> dict[str, float]:
    chosen: dict[str, Any] = dict(switch.split("=") for switch in switches)
    result = rag.ingest(folder, **chosen)
    if any(o.status is not Status.ADDED for o in result.outcomes):
        raise InvariantError(f"Not every document was stored: {[o.note for o in result.outcomes]}.")
    return {s.stage: s.seconds for s in result.ledger.stages}


def _answered(rag: DiscoRAG, questions: Sequence[str]) -> dict[str, float]:
    results = [rag.ask(question) for question in questions]
    names = [s.stage for s in results[0].ledger.stages]
    return {n: sum(s.seconds for r in results for s in r.ledger.stages if s.stage == n) / len(results) for n in names}


def peak_mb() -> float:
    """Peak resident memory of this process, in MB (10^6 bytes)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024 / 1e6


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
