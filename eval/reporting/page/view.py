"""What the page says about one run: tables and plots, without mark-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from eval.errors import DataError
from eval.reporting.page.plots import FOUND, STAGES, Estimate, interval_plot, lost_plot
from eval.reporting.page.samples import SampleView, drill_down
from eval.reporting.stats import Paired, mean_interval, paired
from eval.running.record import MetricSummary, Record, Run, SystemSummary
from eval.sample import Benchmark

MAIN_METRICS = 6
SEED = 0

Scores = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One system's metric; ``paired`` is against the baseline, None where there is nothing to pair."""

    metric: str
    summary: MetricSummary | None
    paired: Paired | None

    @property
    def tone(self) -> str:
        """``better`` or ``worse`` only where the interval excludes 0."""
        if self.paired is None or self.paired.interval is None or not self.paired.interval.excludes_zero:
            return ""
        return "better" if self.paired.difference > 0 else "worse"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One system's line of the main table."""

    system: str
    baseline: bool
    cells: Sequence[Cell]


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A metric without a value, why, and for which systems."""

    metric: str
    why: str
    systems: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, kw_only=True)
class LostRow:
    """Where one system's gold evidence went: stage -> pieces and per cent of ``total``."""

    system: str
    total: int
    pieces: Mapping[str, int]
    shares: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """Scores by one stratum: rows of value, system and metric summaries in column order."""

    name: str
    rows: Sequence[tuple[str, str, Sequence[MetricSummary | None]]]


@dataclass(frozen=True, kw_only=True)
class RunView:
    """A section of the page."""

    run: Run
    baseline: str
    metrics: Sequence[str]
    rows: Sequence[Row]
    missing: Sequence[Missing]
    plots: Sequence[tuple[str, Markup]]
    lost: Sequence[LostRow]
    lost_svg: Markup | None
    strata: Sequence[Stratum]
    samples: Sequence[SampleView]
    sample_count: int
    ranked_by: str


def run_view(
    run: Run, records: Sequence[Record], *, baseline: str, texts: bool, benchmark: Benchmark | None
) -> RunView:
    """All that the page shows of a run.

    Args:
        run: Its summaries.
        records: All systems' records.
        baseline: System that the others are compared with; empty: the run's first.
        texts: Whether texts of the data and of answers are shown.
        benchmark: Questions and documents, for the texts.

    Raises:
        DataError: The baseline is not in the run; the benchmark is not the run's.
    """
    base = baseline or next(iter(run.systems), "")
    if run.systems and base not in run.systems:
        raise DataError(f"{run.suite} has no system {base}.", hint=f"Baselines: {', '.join(run.systems)}.")
    metrics = list(dict.fromkeys(m for s in run.systems.values() for m in s.metrics))
    scores = _scores(records)
    lost = [_lost_row(system, summary) for system, summary in run.systems.items() if summary.lost]
    ranked_by = next((m for m in metrics if any(m in s for s in scores.values())), "")
    return RunView(
        run=run,
        baseline=base,
        metrics=metrics,
        rows=[Row(system=s, baseline=s == base, cells=_cells(run, s, base, metrics, scores)) for s in run.systems],
        missing=_missing(run),
        plots=_plots(run, base, metrics, scores),
        lost=lost,
        lost_svg=lost_plot({row.system: row.shares for row in lost}) if lost else None,
        strata=_strata(run, metrics),
        samples=drill_down(records, ranked_by, texts=texts, benchmark=benchmark if texts else None),
        sample_count=len({r.sample for r in records}),
        ranked_by=ranked_by,
    )


def _scores(records: Sequence[Record]) -> dict[str, dict[str, dict[str, float]]]:
    """System -> metric -> sample -> score."""
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for record in records:
        for metric, score in record.scores.items():
            scores.setdefault(record.system, {}).setdefault(metric, {})[record.sample] = score
    return scores


def _cells(run: Run, system: str, baseline: str, metrics: Sequence[str], scores: Scores) -> list[Cell]:
    return [
        Cell(
            metric=metric,
            summary=run.systems[system].metrics.get(metric),
            paired=None if system == baseline else _pair(scores, system, baseline, metric),
        )
        for metric in metrics
    ]


def _pair(scores: Scores, system: str, baseline: str, metric: str) -> Paired | None:
    ours = scores.get(system, {}).get(metric, {})
    theirs = scores.get(baseline, {}).get(metric, {})
    shared = [sample for sample in ours if sample in theirs]
    if not shared:
        return None
    return paired([ours[s] for s in shared], [theirs[s] for s in shared], seed=SEED)


def _missing(run: Run) -> list[Missing]:
    found: dict[tuple[str, str], Missing] = {}
    for system, summary in run.systems.items():
        for metric, why in summary.missing.items():
            found.setdefault((metric, why), Missing(metric=metric, why=why)).systems.append(system)
    return list(found.values())


def _plots(run: Run, baseline: str, metrics: Sequence[str], scores: Scores) -> list[tuple[str, Markup]]:
    plots: list[tuple[str, Markup]] = []
    for metric in metrics:
        estimates = [
            Estimate(
                system=system,
                mean=run.systems[system].metrics[metric].mean,
                interval=mean_interval(list(scores[system][metric].values()), seed=SEED),
                baseline=system == baseline,
            )
            for system in run.systems
            if metric in run.systems[system].metrics and metric in scores.get(system, {})
        ]
        if estimates and len(plots) < MAIN_METRICS:
            plots.append((metric, interval_plot(metric, estimates)))
    return plots


def _lost_row(system: str, summary: SystemSummary) -> LostRow:
    pieces = {stage: summary.lost.get(stage, 0) for stage in (FOUND, *STAGES)}
    total = sum(pieces.values())
    shares = {stage: 100 * count / total if total else 0.0 for stage, count in pieces.items()}
    return LostRow(system=system, total=total, pieces=pieces, shares=shares)


def _strata(run: Run, metrics: Sequence[str]) -> list[Stratum]:
    names = dict.fromkeys(name for s in run.systems.values() for name in s.strata)
    return [Stratum(name=name, rows=_stratum_rows(run, name, metrics)) for name in names]


def _stratum_rows(run: Run, name: str, metrics: Sequence[str]) -> list[tuple[str, str, Sequence[MetricSummary | None]]]:
    values = sorted({value for s in run.systems.values() for value in s.strata.get(name, {})})
    return [
        (value, system, [summary.strata[name][value].get(m) for m in metrics])
        for value in values
        for system, summary in run.systems.items()
        if value in summary.strata.get(name, {})
    ]
