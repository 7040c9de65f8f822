"""Made-up runs for the tests of folders, comparisons, checks and the page."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval.running.folder import RunFolder
from eval.running.record import Record, Run
from eval.running.summary import summarise


def a_run(**changes: Any) -> Run:
    run = Run(
        suite="toy/1", dataset="toy (development split, subset)", n=2, documents=4, seed=0, key="k1", finished=True
    )
    return run.model_copy(update=changes)


def write(folder: Path, records: Iterable[Record], *, missing: dict[str, str] | None = None, **changes: Any) -> Path:
    """A whole run: records, summaries, scores."""
    made = list(records)
    systems = {
        s: summarise([r for r in made if r.system == s], {}, missing or {})
        for s in dict.fromkeys(r.system for r in made)
    }
    run = a_run(**{"systems": systems, "n": len({r.sample for r in made}), **changes})
    with RunFolder.open(folder, run.key) as opened:
        for record in made:
            opened.append(record)
        opened.write_run(run)
    return folder
