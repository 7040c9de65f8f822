"""Build the search index of one shard in a process of its own: ``python -m discorag.store.disk.optimise FOLDER``.

The library holds the interpreter's lock for the minutes that this may take.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from discorag.store.shard import NODES
from discorag.types.errors import StoreError


def optimised(folder: Path, *, lock: int) -> None:
    """Index the shard in ``folder``, which nobody has open, and wait until it is done.

    Args:
        folder: The shard's.
        lock: File descriptor of the store's lock. The new process holds it too, so that the store stays locked until
            that process is gone, even if this one is killed.

    Raises:
        StoreError: It failed or was killed; every point is where it was.
    """
    command = [sys.executable, "-m", "discorag.store.disk.optimise", str(folder.absolute())]
    done = subprocess.run(command, pass_fds=(lock,), stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        cause = done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        raise StoreError(
            f"{folder} could not be indexed: {cause}.",
            hint="Nothing is lost, search is slower. Free memory or disk space; the next ingest tries again.",
        )


def _optimise(folder: Path) -> None:
    import qdrant_edge as qe

    shard = qe.EdgeShard.load(str(folder), _config(folder))
    shard.optimize()
    shard.flush()
    shard.close()


def _config(folder: Path) -> Any:
    """What the shard has, but no graph over the nodes of trees, all of which are scored at every question."""
    import qdrant_edge as qe

    has = json.loads((folder / "edge_config.json").read_text("utf-8"))
    no_graph = qe.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000)
    dense = {
        name: qe.EdgeVectorParams(
            size=kind["size"],
            distance=qe.Distance.Cosine,
            hnsw_config=no_graph if name == NODES.dense else None,
        )
        for name, kind in has["vectors"].items()
    }
    bm25 = {name: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf) for name in has.get("sparse_vectors", {})}
    return qe.EdgeConfig(vectors=dense, sparse_vectors=bm25 or None, wal_enabled=True)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own handler would wait for the library to return
    _optimise(Path(sys.argv[1]))
