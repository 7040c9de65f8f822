"""How good answers are without a language model, on documents on which nothing was fitted or chosen.

Usage: ``python -m bench.answers [--only KEY ...] [--limit N] [--out FILE] [--home FOLDER]``.

Documents are ingested once into a store below ``--home``. Replies are stored there by the version of the product,
rankings of the baselines by question, so a stopped run can be resumed. The result holds figures only; every question's
outcome is in ``outcomes.jsonl`` below ``--home``. Running some keys keeps the others in the result, if they are of the
same version.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import report
from bench.answers.baselines import rank_all
from bench.answers.figures import figures
from bench.answers.replies import Asker, open_product
from bench.answers.scores import Outcome, outcome
from bench.answers.sets import KEYS, runs
from eval.options import data_folder

OUT = Path("bench/results/answers.json")
HOME = Path(".disco-rag/bench/answers")
MARKS = Path(__file__).with_name("true_conflicts.json")
COLUMNS = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())


def measure(keys: list[str], home: Path, limit: int | None, progress: Progress) -> dict[str, Any]:
    """Ask what these keys need, and score it."""
    outcomes: dict[str, dict[str, Outcome]] = defaultdict(dict)
    with open_product(home) as rag:
        asker = Asker(rag, home, progress)
        for run in runs(data_folder(), keys):
            replies = asker.ask(run, limit)
            rankings = rank_all(rag, run, home, limit, progress) if run.ranked else {}
            for sample in (s for s in run.benchmark.samples if s.id in replies):
                scored = outcome(sample, replies[sample.id], rankings.get(sample.id), run.name, run.benchmark)
                outcomes[run.name][sample.id] = scored
    lines = (
        json.dumps({"run": run, "id": name} | o.model_dump(mode="json", exclude_defaults=True))
        for run, of_run in outcomes.items()
        for name, o in of_run.items()
    )
    (home / "outcomes.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    found = figures(outcomes, json.loads(MARKS.read_text("utf-8")))
    return {key: value for key, value in found.items() if key in {*keys, "spans_exact"}}


def main(
    only: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(KEYS)}; default: all.")] = None,
    limit: Annotated[int | None, typer.Option(help="Questions of each run; then nothing is written.")] = None,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of documents, store and replies.")] = HOME,
) -> None:
    """Ask, score, write, show."""
    console, keys = Console(), only or [*KEYS]
    if unknown := set(keys) - KEYS.keys():
        raise typer.BadParameter(f"{sorted(unknown)} are unknown; known are {', '.join(KEYS)}.")
    with Progress(*COLUMNS, console=console) as progress:
        found = measure(keys, home, limit, progress)
    console.print(report.table(found if limit else report.write(out, found).figures))


if __name__ == "__main__":
    typer.run(main)
