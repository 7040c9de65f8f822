"""The result file, one entry for each experiment, and tables of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.trust.trial import Experiment, Figures

OUT = Path("bench/results/trust.json")
COLUMNS = ("experiment", "what is done", "figure", "at most", "measured")
PAGE = Path("docs/reliability.md")
BEGIN, END = "<!-- trust.json -->", "<!-- end -->"
Results = dict[str, Figures]


def read(out: Path) -> Results:
    """All that was measured so far."""
    return json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}


def add(out: Path, name: str, figures: Figures) -> Results:
    """Put one measurement into the file; the others stay. A run that is interrupted loses one experiment at most."""
    results = read(out)
    results[name] = figures
    out.parent.mkdir(parents=True, exist_ok=True)
    draft = out.with_suffix(".new")
    draft.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(out)
    return results


def machine(loads: list[float]) -> Figures:
    """What a figure depends on besides the code: cores, and how busy they were (before and after, one minute each)."""
    return {"cores": len(os.sched_getaffinity(0)), "load_1min": [round(load, 1) for load in loads]}


def broken(experiment: Experiment, figures: Mapping[str, Any]) -> list[str]:
    """The figures that break their promise."""
    return [name for name, most in experiment.limits.items() if not _kept(figures.get(name), most)]


def _kept(value: Any, most: float) -> bool:
    return isinstance(value, (int, float)) and value <= most


def rows(results: Results, experiments: Mapping[str, Experiment]) -> list[list[str]]:
    """Under `COLUMNS`: a row for each figure; "-" is not measured, or not to be had."""
    table: list[list[str]] = []
    for name, experiment in experiments.items():
        for at, (figure, most) in enumerate(experiment.limits.items()):
            head = (f"`{name}`", experiment.what) if at == 0 else ("", "")
            table.append([*head, f"`{figure}`", _number(most), _cell(results.get(name, {}), figure)])
    return table


def markdown(results: Results, experiments: Mapping[str, Experiment]) -> str:
    """The table of `PAGE`."""
    lines = [COLUMNS, ["--"] * len(COLUMNS), *rows(results, experiments)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_table(page: str, table: str) -> str:
    """The page with this table between its marks."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}"


def _cell(measured: Figures, figure: str) -> str:
    if figure not in measured:
        return "-"
    if measured[figure] is None or "count" not in measured:
        return _number(measured[figure])
    return f"{_number(measured[figure])} (n = {measured['count']:,})"


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"
