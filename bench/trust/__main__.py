"""Break what is promised, on purpose: what is lost, wrong, shown or held up.

Usage: ``python -m bench.trust [NAME ...] [--count N] [--out FILE]``.

Every experiment is written as soon as it is done, and into the table of `docs/reliability.md`; a run that is
interrupted is taken up by naming the rest.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.serving.server import ROOT
from bench.trust.experiments import EXPERIMENTS
from bench.trust.results import (
    OUT,
    PAGE,
    add,
    broken,
    machine,
    markdown,
    read,
    with_table,
)
from bench.trust.trial import Experiment, Figures, Trial


def measure(experiment: Experiment, count: int, progress: Progress, name: str, seed: int) -> Figures:
    """Run one experiment in a folder of its own."""
    task, start, before = progress.add_task(name, total=count), time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix=f"trust-{name}-", ignore_cleanup_errors=True) as folder:
        trial = Trial(Path(folder), count, seed, lambda: progress.advance(task))
        figures = without_places({"count": count} | experiment.run(trial), folder, str(ROOT))
    seconds = {"seconds": round(time.monotonic() - start)}
    return figures | seconds | machine([before, os.getloadavg()[0]])


def without_places(figures: Figures, *folders: str) -> Figures:
    """The same without the names of these folders, which say nothing of the product."""
    said = json.dumps(figures)
    for folder in folders:
        said = said.replace(f"{folder}/", "")
    return json.loads(said)


def main(
    names: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(EXPERIMENTS)}; default: all.")] = None,
    count: Annotated[int, typer.Option(help="How often, for every experiment; 0: in full.")] = 0,
    seed: Annotated[int, typer.Option(help="Of what is random.")] = 0,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, write after each, show the table."""
    console, chosen = Console(), names or [*EXPERIMENTS]
    if unknown := set(chosen) - EXPERIMENTS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown; known are {', '.join(EXPERIMENTS)}.")
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    failed: list[str] = []
    with Progress(*columns, console=console) as progress:
        for name in chosen:
            experiment = EXPERIMENTS[name]
            if why := experiment.unavailable():
                progress.console.print(f"{name} is left out: {why}")
                continue
            figures = measure(experiment, count or experiment.count, progress, name, seed)
            results = add(out, name, figures)
            if out == OUT:
                PAGE.write_text(with_table(PAGE.read_text("utf-8"), markdown(results, EXPERIMENTS)), encoding="utf-8")
            failed += [f"{name}: {figure} is {figures.get(figure)}" for figure in broken(experiment, figures)]
    console.print(markdown(read(out), {name: EXPERIMENTS[name] for name in chosen}), soft_wrap=True, markup=False)
    console.print(f"Written to {out}.")
    if failed:
        console.print(*failed, sep="\n", style="red")
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
