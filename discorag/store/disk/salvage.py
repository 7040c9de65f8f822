"""Copy what can be read of a damaged shard into a new one: ``python -m discorag.store.disk.salvage OLD NEW ...``.

In a process of its own: a damaged file can end the process that reads it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from discorag.store.disk.points import EdgePoints
from discorag.store.shard import BATCH, Point, Where


def salvaged(folder: Path, aside: Path, dimension: int, *, sparse: bool) -> None:
    """Move a shard to ``aside`` and make a new one of what can be read of it; an empty one if nothing can.

    Args:
        folder: The shard's, which nobody has open; it need not exist.
        aside: Where the damaged files are kept.
        dimension: Length d of a vector.
        sparse: As for `EdgePoints`.
    """
    draft = folder.with_name(f"{folder.name}.salvaged")
    shutil.rmtree(draft, ignore_errors=True)
    if folder.exists():
        aside.mkdir(parents=True, exist_ok=True)
        old = folder.rename(aside / folder.name)
        command = [
            sys.executable,
            "-m",
            "discorag.store.disk.salvage",
            str(old),
            str(draft),
            str(dimension),
            str(int(sparse)),
        ]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            shutil.rmtree(draft, ignore_errors=True)
    if not draft.exists():
        EdgePoints(draft, dimension, sparse=sparse, lock=-1).close()
    draft.rename(folder)


def _copy(old: Path, new: Path, dimension: int, *, sparse: bool) -> None:
    with (
        closing(EdgePoints(old, dimension, sparse=sparse, lock=-1)) as source,
        closing(EdgePoints(new, dimension, sparse=sparse, lock=-1)) as target,
    ):
        batch: list[Point] = []
        for point in source.points(Where()):
            batch.append(point)
            if len(batch) == BATCH:
                target.upsert(batch)
                batch = []
        if batch:
            target.upsert(batch)


if __name__ == "__main__":
    _copy(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sparse=sys.argv[4] == "1")
