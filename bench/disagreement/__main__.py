"""How well disagreement between sources is found, on labels of others.

Usage: ``python -m bench.disagreement [--only KEY ...] [--limit N] [--out FILE] [--home FOLDER]``. Documents are
ingested once into a store below ``--home``, which `bench.answers` uses too.
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

from bench.answers.__main__ import COLUMNS, HOME
from bench.answers.asked import opened, package_version
from bench.answers.report import flat
from bench.disagreement import asked, labelled, namesakes, wikicontradict
from bench.disagreement.judged import Judge
from eval.options import data_folder

OUT = Path("bench/results/disagreement.json")
OF_PAIRS: dict[str, Callable[[Path, Judge], dict[str, Any]]] = {
    "wikicontradict": wikicontradict.measured,
    "labelled": labelled.measured,
    "ramdocs": namesakes.measured,
}
OF_ANSWERS = {"false_reports": asked.false_reports, "both_sides": asked.both_sides}


def measured(keys: list[str], home: Path, limit: int | None, progress: Progress) -> dict[str, Any]:
    """The figures of each key."""
    data, judge = data_folder(), Judge()
    told: dict[str, Any] = {}
    for key in (k for k in keys if k in OF_PAIRS):
        task = progress.add_task(key, total=None)
        told[key] = OF_PAIRS[key](data, judge)
        progress.remove_task(task)
    if set(keys) & OF_ANSWERS.keys():
        with opened(home) as rag:
            told |= {k: OF_ANSWERS[k](rag, home, data, limit, progress) for k in keys if k in OF_ANSWERS}
    return told


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
    only: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join([*OF_PAIRS, *OF_ANSWERS])}.")] = None,
    limit: Annotated[int | None, typer.Option(help="Questions of each run; then nothing is written.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of documents and store.")] = HOME,
) -> None:
    """Judge, ask, write, show."""
    console, keys = Console(), only or [*OF_PAIRS, *OF_ANSWERS]
    if unknown := set(keys) - OF_PAIRS.keys() - OF_ANSWERS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown.")
    with Progress(*COLUMNS, console=console) as progress:
        figures = measured(keys, home, limit, progress)
    if not limit:
        write(out, figures)
    console.print(table(figures))


if __name__ == "__main__":
    typer.run(main)
