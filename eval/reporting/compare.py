"""Two systems on the same questions: of one run, or of two runs of one suite."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from discorag.text.escaping import one_line
from eval.errors import DataError
from eval.reporting.stats import Paired, paired
from eval.running.folder import load_run
from eval.running.record import Record, Run

WORST = 10
_EXCERPT = 300


class Outcome(BaseModel):
    """What one system did with a sample; texts are empty for a published run.

    Args:
        score: On the chosen metric.
        lost: Stage -> pieces of gold evidence lost there.
        prompts: Stage -> hash of its prompt.
    """

    model_config = ConfigDict(frozen=True)

    score: float
    answer: str
    plan: str
    lost: dict[str, int]
    prompts: dict[str, str]


class Regression(BaseModel):
    """A sample on which the first system scores below the second."""

    model_config = ConfigDict(frozen=True)

    sample: str
    difference: float
    a: Outcome
    b: Outcome


class Comparison(BaseModel):
    """The first system against the second. Differences are first minus second.

    Args:
        suite, dataset: Of both runs.
        a, b: As named by the caller.
        shared: Samples that both sides have.
        only_a, only_b: Samples that one side has; they enter no number.
        label_a, label_b: What is not a system's own in its answers; see `SystemSummary.label`.
        metrics: Metric -> paired statistics over shared samples that both sides could score.
        metric: Metric by which regressions are chosen.
        regressions: Samples with the largest loss, worst first.
    """

    model_config = ConfigDict(frozen=True)

    suite: str
    dataset: str
    a: str
    b: str
    shared: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    label_a: str = ""
    label_b: str = ""
    metrics: dict[str, Paired]
    metric: str
    regressions: tuple[Regression, ...]


def compare(a: str, b: str, *, metric: str = "", worst: int = WORST, seed: int = 0) -> Comparison:
    """Compare two systems, each named ``FOLDER:SYSTEM``, or ``FOLDER`` where it holds one system.

    Args:
        a: The first system.
        b: The second, usually the baseline.
        metric: By which regressions are chosen; empty: the first metric that both have.
        worst: Number of regressions at most.
        seed: Of the bootstrap.

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
    shared = [sample for sample in of_a if sample in of_b]
    scores = _shared_scores([(of_a[s], of_b[s]) for s in shared])
    if not scores:
        raise DataError(f"{a} and {b} share no scored sample.", hint="Run both with the same --seed and size.")
    chosen = metric or next(iter(scores))
    if chosen not in scores:
        raise DataError(f"{a} and {b} share no metric {metric}.", hint=f"Choose one of {', '.join(scores)}.")
    return Comparison(
        suite=run_a.suite,
        dataset=run_a.dataset,
        a=a,
        b=b,
        shared=len(shared),
        only_a=tuple(s for s in of_a if s not in of_b),
        only_b=tuple(s for s in of_b if s not in of_a),
        label_a=_label(run_a, of_a),
        label_b=_label(run_b, of_b),
        metrics={m: paired(left, right, seed=seed) for m, (left, right) in scores.items()},
        metric=chosen,
        regressions=_regressions(of_a, of_b, chosen)[:worst],
    )


def comparison_tables(comparison: Comparison) -> RenderableType:
    """The comparison for the console: statistics, then the worst regressions."""
    c = comparison
    head = Text(f"{c.suite}, {c.dataset}\nfirst   {c.a}\nsecond  {c.b}\n{c.shared} shared samples")
    if c.only_a or c.only_b:
        head.append(f"; left out: {len(c.only_a)} only in the first, {len(c.only_b)} only in the second", "yellow")
    for name, label in (("first", c.label_a), ("second", c.label_b)):
        if label:
            head.append(f"\n{name}: {label}", "yellow")
    return Group(head, Text(""), _metric_table(c), *_regression_texts(c))


def _side(name: str) -> tuple[Run, dict[str, Record]]:
    folder, _, system = (name, "", "") if Path(name).is_dir() else name.rpartition(":")
    run, records = load_run(Path(folder or name))
    systems = list(dict.fromkeys(r.system for r in records))
    if not system and len(systems) == 1:
        system = systems[0]
    if system not in systems:
        raise DataError(
            f"{name} names {f'system {system}' if system else 'no system'}.",
            hint=f"Write FOLDER:SYSTEM with one of {', '.join(systems) or 'no systems (the run is empty)'}.",
        )
    return run, {r.sample: r for r in records if r.system == system}


def _label(run: Run, records: Mapping[str, Record]) -> str:
    system = next((record.system for record in records.values()), "")
    return run.systems[system].label if system in run.systems else ""


def _shared_scores(pairs: list[tuple[Record, Record]]) -> dict[str, tuple[list[float], list[float]]]:
    scores: dict[str, tuple[list[float], list[float]]] = {}
    for a, b in pairs:
        for metric in a.scores:
            if metric in b.scores:
                left, right = scores.setdefault(metric, ([], []))
                left.append(a.scores[metric])
                right.append(b.scores[metric])
    return scores


def _regressions(of_a: Mapping[str, Record], of_b: Mapping[str, Record], metric: str) -> tuple[Regression, ...]:
    found = [
        Regression(
            sample=sample,
            difference=a.scores[metric] - b.scores[metric],
            a=_outcome(a, metric),
            b=_outcome(b, metric),
        )
        for sample, a in of_a.items()
        if (b := of_b.get(sample)) and metric in a.scores and metric in b.scores
    ]
    return tuple(sorted((r for r in found if r.difference < 0), key=lambda r: r.difference))


def _outcome(record: Record, metric: str) -> Outcome:
    lost: dict[str, int] = {}
    for piece in record.lost:
        lost[piece.stage] = lost.get(piece.stage, 0) + 1
    prompts = {s.stage: s.prompt_hash for s in record.ledger.stages if s.prompt_hash}
    return Outcome(score=record.scores[metric], answer=record.answer, plan=record.plan, lost=lost, prompts=prompts)


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
    for r in comparison.regressions:
        texts.append(Text(f"\n{one_line(r.sample)}  {r.difference:+.2f}", style="bold"))
        for name, side in (("first", r.a), ("second", r.b)):
            texts.append(Text(f"  {name}: {side.score:.2f}"))
            texts.extend(Text(f"    {field}: {one_line(value, _EXCERPT)}") for field, value in _details(side) if value)
    return texts


def _details(side: Outcome) -> list[tuple[str, str]]:
    return [
        ("answer", side.answer),
        ("plan", side.plan),
        ("lost", ", ".join(f"{count} at {stage}" for stage, count in side.lost.items())),
        ("prompts", ", ".join(f"{stage} {digest}" for stage, digest in side.prompts.items())),
    ]
