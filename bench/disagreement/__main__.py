"""How well disagreement between sources is found, on labels of others.

Usage: ``python -m bench.disagreement [--only KEY ...] [--out FILE]``. What whole answers report is measured by
`bench.answers` (``both_sides``, ``false_reports``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.answers.replies import package_version
from bench.answers.report import flat
from bench.disagreement import labelled, namesakes, wikicontradict
from bench.disagreement.judged import Judge
from eval.options import data_folder

OUT = Path("bench/results/disagreement.json")
KEYS: dict[str, Callable[[Path, Judge], dict[str, Any]]] = {
    "wikicontradict": wikicontradict.measured,
    "labelled": labelled.measured,
    "ramdocs": namesakes.measured,
}


def measured(keys: list[str], progress: Progress) -> dict[str, Any]:
    """The figures of each key."""
    data, judge = data_folder(), Judge()
    return {key: KEYS[key](data, judge) for key in progress.track(keys)}


def write(out: Path, figures: dict[str, Any]) -> None:
    """The result; other keys' figures stay if they are of the same code."""
    old: dict[str, Any] = json.loads(out.read_text("utf-8")) if out.exists() else {}
    kept: dict[str, Any] = old["figures"] if old.get("package") == package_version() else {}
    said = {"package": package_version(), "figures": kept | figures}
    out.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")


def table(figures: dict[str, Any]) -> Table:
    """A row a figure."""
    shown = Table("figure", "value")
    for name, value in flat(figures).items():
        shown.add_row(name, str(value))
    return shown


def main(
    only: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(KEYS)}.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Judge, write, show."""
    console, keys = Console(), only or [*KEYS]
    if unknown := set(keys) - KEYS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown.")
    with Progress(console=console) as progress:
        figures = measured(keys, progress)
    write(out, figures)
    console.print(table(figures))


if __name__ == "__main__":
    typer.run(main)
