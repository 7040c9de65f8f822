"""Promises and how they are tried: experiments, the command that runs them, their file of results and its table."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.report import package_version, to_json

ROOT = Path(__file__).parents[1]
END = "<!-- end -->"
Figures: TypeAlias = dict[str, Any]
"""What came of an experiment, as JSON: its figures, and what explains them."""
Results: TypeAlias = dict[str, Figures]
Names = Annotated[list[str] | None, typer.Argument(help="Of experiments; default: all.")]
Count = Annotated[int, typer.Option(help="How often, for every experiment; 0: in full.")]
Out = Annotated[Path | None, typer.Option(help="Another result file; then no page is changed.")]


@dataclass(frozen=True)
class Trial:
    """One run of one experiment.

    Args:
        folder: A folder of its own, which need not be cleaned up.
        count: How many kills, corruptions, jobs, requests, ...
        seed: Seed of what is random.
        tick: Called whenever one of them is done.
    """

    folder: Path
    count: int
    seed: int = 0
    tick: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Experiment:
    """One promise and how it is tried.

    Args:
        what: What is done, in a table's words.
        count: How often, in full.
        limits: Figure -> the largest value that keeps the promise; None: it is only shown.
        run: Does it.
    """

    what: str
    count: int
    limits: Mapping[str, float | None]
    run: Callable[[Trial], Figures]

    def broken(self, figures: Figures) -> list[str]:
        """The figures that break the promise, or are missing."""
        return [name for name, most in self.limits.items() if not _is_kept(figures.get(name), most)]


def _is_kept(value: Any, most: float | None) -> bool:
    return most is None or (isinstance(value, (int, float)) and value <= most)


def run_experiments(
    experiments: Mapping[str, Experiment], results: Path, page: Path, names: Names, count: int, out: Path | None
) -> None:
    """Measure, and write after each: an interrupted run is resumed by naming the rest. Exits with 1 on failure."""
    if unknown := set(names or ()) - experiments.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown; known are {', '.join(experiments)}.")
    failed, columns = list[str](), (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress:
        for name in names or experiments:
            experiment = experiments[name]
            task = progress.add_task(name, total=(often := count or experiment.count))
            figures = measure(experiment, often, lambda task=task: progress.advance(task))
            found = add(out or results, name, figures)
            if out is None:
                page.write_text(with_table(page.read_text("utf-8"), results, found, experiments), encoding="utf-8")
            failed += [f"{name}: {figure} is {figures.get(figure)}" for figure in experiment.broken(figures)]
    Console().print(f"Written to {out or results}.", *failed, sep="\n")
    if failed:
        raise typer.Exit(1)


def measure(experiment: Experiment, count: int, tick: Callable[[], None]) -> Figures:
    """Run one experiment in a folder of its own. Figures also say of which commit, and how busy the machine was."""
    start, before = time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="trial-", ignore_cleanup_errors=True) as folder:
        figures = _without_places({"count": count} | experiment.run(Trial(Path(folder), count, tick=tick)), folder)
    machine = {"cores": len(os.sched_getaffinity(0)), "load_1min": [round(v, 1) for v in (before, os.getloadavg()[0])]}
    return figures | {"seconds": round(time.monotonic() - start), "commit": package_version()} | machine


def _without_places(figures: Figures, folder: str) -> Figures:
    """The same without the names of this folder and of the repository's, which say nothing of the product."""
    return json.loads(json.dumps(figures).replace(f"{folder}/", "").replace(f"{ROOT}/", ""))


def read(results: Path) -> Results:
    """All that was measured so far."""
    return json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}


def add(results: Path, name: str, figures: Figures) -> Results:
    """Put one measurement into the file; the others stay."""
    found = read(results) | {name: figures}
    draft = results.with_suffix(".new")
    draft.write_text(to_json(found) + "\n", encoding="utf-8")
    draft.replace(results)
    return found


def with_table(page: str, results: Path, found: Results, experiments: Mapping[str, Experiment]) -> str:
    """The page with the table of these results between its marks; "-" is not measured."""
    rows = ["| experiment | what is done | figure | at most | measured |", "| -- | -- | -- | -- | -- |"]
    for name, experiment in experiments.items():
        for at, (figure, most) in enumerate(experiment.limits.items()):
            head = "|  |  |" if at else f"| `{name}` | {experiment.what} |"
            rows.append(f"{head} `{figure}` | {_number(most)} | {_cell(found.get(name, {}), figure)} |")
    begin = f"<!-- {results.name} -->"
    head, _, rest = page.partition(begin)
    return "\n".join([f"{head}{begin}\n", *rows, f"\n{END}{rest.partition(END)[2]}"])


def _cell(measured: Figures, figure: str) -> str:
    if measured.get(figure) is None:
        return "-"
    return f"{_number(measured[figure])} (n = {measured['count']:,})"


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"
