"""Two systems on the same questions: of one run, or of two runs of one suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from discorag.text.escaping import one_line
from eval.errors import DataError
from eval.reporting.stats import Paired, paired_by_question
from eval.running.folder import load_run
from eval.running.record import Record, Run

SEED = 0
WORST = 10
_EXCERPT = 300


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The first system against the second. Differences are first minus second.

    Args:
        runs: Of the two systems.
        a, b: As named by the caller.
        shared: Number of samples that both sides have.
        only_a, only_b: Samples that one side has; they enter no number.
        metrics: Metric -> paired statistics over shared samples that both sides could score.
        metric: Metric by which regressions are chosen.
        regressions: The records of both sides at the samples with the largest loss, worst first.
    """

    runs: tuple[Run, Run]
    a: str
    b: str
    shared: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    metrics: dict[str, Paired]
    metric: str
    regressions: tuple[tuple[Record, Record], ...]


def compare(a: str, b: str, *, metric: str = "") -> Comparison:
    """Compare two systems, each named ``FOLDER:SYSTEM``.

    Args:
        a: The first system.
        b: The second, usually the baseline.
        metric: By which regressions are chosen; empty: the first metric that both have.

    Raises:
        DataError: No such system, different suites or data, no shared sample, or no such metric.
        MissingPathError: No such run.
    """
    run_a, of_a = _side(a)
    run_b, of_b = _side(b)
    for field in ("suite", "dataset"):
        left, right = getattr(run_a, field), getattr(run_b, field)
        if left != right:
            raise DataError(f"{field} differs: {a} has {left}, {b} has {right}.", hint="Compare runs of one suite.")
    pairs = [(of_a[sample], of_b[sample]) for sample in of_a if sample in of_b]
    names = dict.fromkeys(m for left, right in pairs for m in left.scores if m in right.scores)
    if not names:
        raise DataError(f"{a} and {b} share no scored sample.", hint="Run both with the same --seed and size.")
    chosen = metric or next(iter(names))
    if chosen not in names:
        raise DataError(f"{a} and {b} share no metric {metric}.", hint=f"Choose one of {', '.join(names)}.")
    lost = [pair for pair in pairs if chosen in pair[0].scores and _loss(pair, chosen) < 0]
    metrics = {m: paired_by_question(_of(of_a, m), _of(of_b, m), seed=SEED) for m in names}
    return Comparison(
        runs=(run_a, run_b),
        a=a,
        b=b,
        shared=len(pairs),
        only_a=tuple(s for s in of_a if s not in of_b),
        only_b=tuple(s for s in of_b if s not in of_a),
        metrics={m: found for m, found in metrics.items() if found},
        metric=chosen,
        regressions=tuple(sorted(lost, key=lambda pair: _loss(pair, chosen))[:WORST]),
    )


def comparison_tables(comparison: Comparison) -> RenderableType:
    """The comparison for the console: statistics, then the worst regressions."""
    c, (run_a, run_b) = comparison, comparison.runs
    head = Text(f"{run_a.suite}, {run_a.dataset}\nfirst   {c.a}\nsecond  {c.b}\n{c.shared} shared samples")
    if c.only_a or c.only_b:
        head.append(f"; left out: {len(c.only_a)} only in the first, {len(c.only_b)} only in the second", "yellow")
    for name, run, side in (("first", run_a, c.a), ("second", run_b, c.b)):
        summary = run.systems.get(side.rpartition(":")[2])
        if summary and summary.label:
            head.append(f"\n{name}: {summary.label}", "yellow")
    return Group(head, Text(""), _metric_table(c), *_regression_texts(c))


def _side(name: str) -> tuple[Run, dict[str, Record]]:
    folder, _, system = name.rpartition(":")
    run, records = load_run(Path(folder or name))
    systems = list(dict.fromkeys(r.system for r in records))
    if system not in systems:
        raise DataError(
            f"{name} names no system of the run.",
            hint=f"Write FOLDER:SYSTEM with one of {', '.join(systems) or 'no systems (the run is empty)'}.",
        )
    return run, {r.sample: r for r in records if r.system == system}


def _of(side: Mapping[str, Record], metric: str) -> dict[str, float]:
    return {sample: r.scores[metric] for sample, r in side.items() if metric in r.scores}


def _loss(pair: tuple[Record, Record], metric: str) -> float:
    a, b = pair
    return a.scores[metric] - b.scores.get(metric, a.scores[metric])


def _metric_table(comparison: Comparison) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("metric")
    for column in ("n", "difference", "95 % interval", "p (t-test)", "wins", "ties", "losses"):
        table.add_column(column, justify="right")
    for metric, s in comparison.metrics.items():
        interval = f"[{s.interval.low:+.2f}, {s.interval.high:+.2f}]" if s.interval else "-"
        p = "-" if s.p is None else f"{s.p:.4f}"
        style = "bold" if s.interval and s.interval.excludes_zero else ""
        numbers = (str(s.n), f"{s.difference:+.2f}", interval, p, str(s.wins), str(s.ties), str(s.losses))
        table.add_row(*(Text(cell) for cell in (metric, *numbers)), style=style)
    return table


def _regression_texts(comparison: Comparison) -> list[Text]:
    if not comparison.regressions:
        return [Text(f"\nNo sample on which the first loses in {comparison.metric}.")]
    texts = [Text(f"\nLargest losses of the first in {comparison.metric}", style="bold")]
    for pair in comparison.regressions:
        loss = f"{_loss(pair, comparison.metric):+.2f}"
        texts.append(Text(f"\n{one_line(pair[0].sample)}  {loss}", style="bold"))
        for name, side in zip(("first", "second"), pair, strict=True):
            texts.append(Text(f"  {name}: {side.scores[comparison.metric]:.2f}"))
            texts.extend(Text(f"    {field}: {one_line(value, _EXCERPT)}") for field, value in _details(side) if value)
    return texts


def _details(side: Record) -> list[tuple[str, str]]:
    lost = Counter(piece.stage for piece in side.lost)
    return [
        ("answer", side.answer),
        ("plan", side.plan),
        ("lost", ", ".join(f"{count} at {stage}" for stage, count in lost.items())),
    ]
