"""How good answers are without a language model, on documents that nothing was fitted on.

Usage: ``python -m bench.answers [--only KEY ...] [--limit N] [--before FILE] [--out FILE] [--home FOLDER]``.

Documents are ingested once into a store below ``--home``; answers are kept there by the version of the code, so a run
that was stopped goes on. The result holds figures, and every question's outcome by its id, without texts; ``--before``
names an earlier one, to which gains are counted question by question. A run of some keys leaves the others in the file,
if they are of the same version.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.answers import report
from bench.answers.asked import Asker, opened, package_version
from bench.answers.cpu import cpu_floors
from bench.answers.lint.check import shares
from bench.answers.lint.said import Answered, answered
from bench.answers.scores import Outcome, outcome
from bench.answers.sets import KEYS, runs
from eval.options import data_folder

OUT = Path("bench/results/answers.json")
HOME = Path(".disco-rag/bench/answers")
COLUMNS = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())


def measured(keys: list[str], home: Path, limit: int | None, progress: Progress) -> report.Result:
    """Ask what these keys need, and score it."""
    outcomes: dict[str, dict[str, Outcome]] = defaultdict(dict)
    answers: dict[str, list[Answered]] = defaultdict(list)
    extra: dict[str, dict[str, Any]] = {}
    with opened(home) as rag:
        asker = Asker(rag, home, progress)
        for run in runs(data_folder(), keys):
            told = asker.run(run, limit)
            samples = [s for s in run.benchmark.samples if s.id in told]
            outcomes[run.name] |= {s.id: outcome(s, told[s.id], run.name) for s in samples}
            answers[run.name] += [answered(s.query, told[s.id]) for s in samples]
        if "lint" in keys:
            extra["lint"] = shares({name: answers[name] for name in KEYS["lint"]})
        if "cpu_floors" in keys:
            [timed] = (r for r in runs(data_folder(), ["first_sentence"]) if r.name == "fairytaleqa/own")
            extra["cpu_floors"] = cpu_floors(rag, asker, timed, progress)
    return report.Result(package=package_version(), figures=report.figures(outcomes) | extra, questions=dict(outcomes))


def together(old: report.Result | None, new: report.Result) -> report.Result:
    """The new result with the keys and runs that it lacks, where the old one is of the same code."""
    if old is None or old.package != new.package:
        return new
    return report.Result(
        package=new.package, figures=old.figures | new.figures, questions=old.questions | new.questions
    )


def main(
    only: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(KEYS)}; default: all.")] = None,
    limit: Annotated[int | None, typer.Option(help="Questions of each run; then nothing is written.")] = None,
    before: Annotated[Path | None, typer.Option(help="An earlier result.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of documents, store and answers.")] = HOME,
) -> None:
    """Ask, score, compare, write, show."""
    console, keys = Console(), only or [*KEYS]
    if unknown := set(keys) - KEYS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown; known are {', '.join(KEYS)}.")
    with Progress(*COLUMNS, console=console) as progress:
        result = measured(keys, home, limit, progress)
    if not limit:
        result = together(report.read(out), result)
    earlier = report.read(before) if before else None
    if earlier:
        result = report.against(result, earlier)
    if not limit:
        report.write(out, result)
    console.print(report.table(result, earlier))


if __name__ == "__main__":
    typer.run(main)
