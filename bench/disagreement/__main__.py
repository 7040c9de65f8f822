"""How well disagreement between sources is found, on labels of others.

Usage: ``python -m bench.disagreement [--only KEY ...] [--out FILE]``. What whole answers report is measured by
`bench.answers` (``both_sides``, ``false_reports``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from bench import report
from bench.disagreement import labelled, namesakes, wikicontradict
from bench.disagreement.judged import Judge
from eval.options import data_folder

OUT = Path("bench/results/disagreement.json")
KEYS: dict[str, Callable[[Path, Judge], dict[str, Any]]] = {
    "wikicontradict": wikicontradict.measured,
    "labelled": labelled.measured,
    "ramdocs": namesakes.measured,
}


def main(
    only: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(KEYS)}.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Judge, write, show."""
    keys = only or [*KEYS]
    if unknown := set(keys) - KEYS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown.")
    data, judge = data_folder(), Judge()
    found = {key: KEYS[key](data, judge) for key in track(keys)}
    Console().print(report.table(report.write(out, found).figures))


if __name__ == "__main__":
    typer.run(main)
