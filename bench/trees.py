"""Which trees give which answers: ``python -m bench.trees`` (``make bench-trees``).

The same questions, retrieval and local engine, with the chunks' trees by right-branching, rules, and the trained parser
(the idea of DISRetrieval fig. 5). Writes ``bench/results/trees.json``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from discorag.types.errors import InvariantError

OUT = Path("bench/results/trees.json")
WORK = Path(".disco-rag/bench/trees")
PARSERS = ("right-branching", "rules", "local")
SYSTEMS = ("full", "no-tree")
METRICS = ("rougeLsum", "rouge2", "sari", "str_em", "qa_f1", "f1", "supported")


def answered(suite: str, parser: str, limit: int, home: Path) -> dict[str, Any]:
    """Metrics of both systems with one parser's trees, from a run of the evaluation in a process of its own."""
    folder = home / parser
    command = [sys.executable, "-m", "eval", "run", suite, "--limit", str(limit), "--parser", parser]
    command += [part for system in SYSTEMS for part in ("--system", system)]
    done = subprocess.run([*command, "--out", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InvariantError(f"{' '.join(command)} failed: {(done.stderr or done.stdout)[-2000:]}")
    run = json.loads((folder / suite / "run.json").read_text(encoding="utf-8"))
    found = {name: system["metrics"] for name, system in run["systems"].items()}
    return {"n": run["n"]} | {
        name: {m: round(values[m]["mean"], 2) for m in METRICS if m in values} for name, values in found.items()
    }


def shown(suite: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    """The table for people: systems that use trees by parser, and the one that uses none once."""
    first = next(iter(rows.values()))
    table = Table("trees", title=f"{suite}, {first['n']} questions")
    names = list(first[SYSTEMS[0]])
    for name in names:
        table.add_column(name, justify="right")
    for parser, row in rows.items():
        table.add_row(parser, *(f"{row[SYSTEMS[0]].get(m, float('nan')):.1f}" for m in names))
    table.add_row("none", *(f"{first[SYSTEMS[1]].get(m, float('nan')):.1f}" for m in names))
    return table


def main(
    suites: Annotated[str, typer.Option(help="Comma-separated.")] = "lay-summaries,asqa",
    limit: Annotated[int, typer.Option(help="Questions of each.")] = 30,
    parsers: Annotated[str, typer.Option(help="Comma-separated.")] = ",".join(PARSERS),
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show, write."""
    console = Console()
    results: dict[str, dict[str, Any]] = {}
    for suite in suites.split(","):
        results[suite] = {}
        for parser in parsers.split(","):
            console.print(f"{suite}, {parser} ...")
            results[suite][parser] = answered(suite, parser, limit, WORK)
        console.print(shown(suite, results[suite]))
    out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    console.print(f"Written to {out}.")


if __name__ == "__main__":
    typer.run(main)
