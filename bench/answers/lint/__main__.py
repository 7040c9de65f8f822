"""How well the lint finds what was marked by hand: ``python -m bench.answers.lint [--fit]``.

``--fit`` fits it on half of the marks and writes ``lines.json``; the table is of the other half, and of all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench.answers.lint import fit
from bench.answers.lint.check import lines, write_lines
from bench.answers.lint.marks import HOME, marked, marks
from bench.answers.lint.said import FAULTS


def table(halves: dict[str, fit.Marked]) -> Table:
    """Precision and recall of each fault, and of any, in answers."""
    shown = Table("half", "fault", "marked", "found", "precision", "recall")
    for half, pairs in halves.items():
        rows = {fault: fit.rates(pairs, lines(), fault) for fault in FAULTS}
        for fault, r in {**rows, "any": fit.rates_of_any(pairs, lines())}.items():
            shown.add_row(half, fault, str(r.marked), str(r.found), f"{r.precision:.2f}", f"{r.recall:.2f}")
    return shown


def main(
    home: Annotated[Path, typer.Option(help="Where the answers of the starting commit lie.")] = HOME,
    refit: Annotated[bool, typer.Option("--fit", help="Fit again, on half of the marks.")] = False,
) -> None:
    """Fit if asked to, and show."""
    console, pairs = Console(), marked(home)
    console.print(f"{len(pairs)} of {len(marks())} marked answers")
    fitting, held_out = fit.halves(pairs)
    if refit:
        write_lines(fit.fitted(fitting))
    console.print(table({"fitted": fitting, "held out": held_out, "all": pairs}))


if __name__ == "__main__":
    typer.run(main)
