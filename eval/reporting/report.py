"""The report: one self-contained HTML page over several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from eval.reporting.page.plots import FOUND, STAGES
from eval.reporting.page.samples import DRILL_DOWN
from eval.reporting.page.view import run_view
from eval.reporting.stats import Interval
from eval.running.folder import load_run
from eval.sample import Benchmark

if TYPE_CHECKING:
    from jinja2 import Template


def write_report(
    folders: Sequence[Path],
    out: Path,
    *,
    texts: bool,
    benchmarks: Mapping[Path, Benchmark] | None = None,
    baseline: str = "",
) -> None:
    """Write the page. It loads nothing and runs no script.

    Args:
        folders: Of the runs, in the order in which the page shows them.
        out: The HTML file.
        texts: Show questions, answers, plans and evidence; False for publication, since data sets forbid
            redistribution.
        benchmarks: Folder -> its data, for questions, references and evidence; needed only with ``texts``.
        baseline: System that the others are compared with; empty: each run's first.

    Raises:
        MissingPathError: No such run.
        DataError: A run's files are broken, or lack the baseline; a benchmark is not its run's.
    """
    runs = [
        run_view(*load_run(folder), baseline=baseline, texts=texts, benchmark=(benchmarks or {}).get(folder))
        for folder in folders
    ]
    page = _template().render(
        runs=runs,
        texts=texts,
        stages=STAGES,
        found=FOUND,
        cap=DRILL_DOWN,
        date=datetime.now(UTC).date().isoformat(),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8", errors="replace")


def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(score=_score, signed=_signed, interval=_interval, p=_p, number=_number)
    return environment.get_template("report.html.j2")


def _score(value: float) -> str:
    return f"{value:.1f}"


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", "−")


def _interval(interval: Interval | None) -> str:
    return f"[{_signed(interval.low)}, {_signed(interval.high)}]" if interval else ""


def _p(value: float | None) -> str:
    if value is None:
        return "—"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f")
