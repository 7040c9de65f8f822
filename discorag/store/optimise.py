"""Build the graph of an Edge index in a process of its own: ``python -m discorag.store.optimise FOLDER``.

The library holds the interpreter's lock for the minutes that this may take.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from discorag.schema.errors import StoreError


def optimised(folder: Path, *, lock: int) -> None:
    """Optimise the shard in ``folder``, which no process has open, and wait until it is done.

    Args:
        folder: The shard's.
        lock: File descriptor of the index's lock. The new process holds it too, so that the index stays locked until
            that process is gone, even if this one is killed.

    Raises:
        StoreError: It failed or was killed.
    """
    command = [sys.executable, "-m", "discorag.store.optimise", str(folder.absolute())]
    done = subprocess.run(command, pass_fds=(lock,), stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        cause = done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        raise StoreError(
            f"{folder} could not be optimised: {cause}.",
            hint="Nothing is lost, searches are slower. Free memory or disk space; the next ingest tries again.",
        )


def _optimise(folder: Path) -> None:
    import qdrant_edge as qe

    shard = qe.EdgeShard.load(str(folder))
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait for the library to return
    _optimise(Path(sys.argv[1]))
