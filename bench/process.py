"""Ingest a folder and print this process's peak memory in MB: ``python -m bench.process STORE FOLDER``.

Only a fresh process has a peak that belongs to the job. The peak is Linux's ``VmHWM``: ``ru_maxrss`` of a child starts
at what its parent held when it forked.
"""

import os
import sys
from pathlib import Path

CORES = 2


def peak_mb() -> float:
    """Peak resident memory of this process, in MB (10^6 bytes)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024 / 1e6


def main(store: str, folder: str) -> None:
    """Ingest with default settings on `CORES` cores, without a language model."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    from discorag import DiscoRAG
    from discorag.config import LlmSettings, StoreSettings, read_settings
    from discorag.ingest.survey import Status

    parts = {"store": StoreSettings(kind="edge", path=Path(store)), "llm": LlmSettings(base_url=None, cache=None)}
    with DiscoRAG(read_settings().model_copy(update=parts)) as rag:
        outcomes = rag.ingest(folder).outcomes
        peak = peak_mb()
    if any(o.status is not Status.ADDED for o in outcomes):
        raise SystemExit(f"Not every document was stored: {[o.note for o in outcomes]}.")
    print(peak)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
