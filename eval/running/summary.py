"""From one system's records to its summary."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from statistics import fmean, median

from eval.running.record import MetricSummary, Record, SystemSummary

DERIVED = {"dr_ovscore": ("disambig_f1", "rougeLsum")}
"""A measure of a whole run -> the metrics of whose means it is the geometric mean."""


def summarise(
    records: Sequence[Record], samples_strata: Mapping[str, dict[str, str]], missing: Mapping[str, str]
) -> SystemSummary:
    """Means over scored records, overall and by stratum; totals and medians.

    ``dr_ovscore`` is the geometric mean of mean Disambig-F1 and mean ROUGE-Lsum (ASQA's official ``scoring.py``). A
    metric that applied but could score no answer is listed in ``missing``; it never becomes zero.

    Args:
        records: The records of one system.
        samples_strata: Sample id -> its strata.
        missing: Metric -> why it was not computed at all.
    """
    usage = [r.ledger.usage for r in records]
    metrics = _metrics(records)
    return SystemSummary(
        metrics=metrics,
        strata=_strata(records, samples_strata),
        missing={**_never_scored(records, metrics), **missing},
        failures=dict(Counter(f.kind for r in records for f in r.ledger.failures)),
        partly_local=sum(bool(r.stood_in) for r in records),
        stood_in=dict(Counter(stage for r in records for stage in r.stood_in)),
        errors=sum(bool(r.error) for r in records),
        tokens_in=sum(u.tokens_in for u in usage),
        tokens_out=sum(u.tokens_out for u in usage),
        calls=sum(u.calls for u in usage),
        seconds=_median(r.seconds for r in records),
        words=_median(len(r.answer.split()) for r in records if not r.error),
    )


def _metrics(records: Sequence[Record]) -> dict[str, MetricSummary]:
    scores: dict[str, list[float]] = {}
    for record in records:
        for metric, score in record.scores.items():
            scores.setdefault(metric, []).append(score)
    unscored = Counter(metric for r in records for metric in r.unscored)
    metrics = {m: MetricSummary(mean=fmean(s), n=len(s), unscored=unscored[m]) for m, s in scores.items()}
    for name, parts in DERIVED.items():
        if all(part in metrics for part in parts):
            found = [metrics[part] for part in parts]
            mean, n = geometric_mean([m.mean for m in found]), min(m.n for m in found)
            metrics[name] = MetricSummary(mean=mean, n=n, unscored=max(m.unscored for m in found))
    return metrics


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of values of which some may be 0."""
    return prod(values) ** (1 / len(values))


def _strata(
    records: Sequence[Record], samples_strata: Mapping[str, dict[str, str]]
) -> dict[str, dict[str, dict[str, MetricSummary]]]:
    groups: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        for stratum, value in samples_strata.get(record.sample, {}).items():
            groups.setdefault(stratum, {}).setdefault(value, []).append(record)
    return {
        stratum: {value: _metrics(group) for value, group in sorted(values.items())}
        for stratum, values in groups.items()
    }


def _never_scored(records: Sequence[Record], metrics: Mapping[str, MetricSummary]) -> dict[str, str]:
    counts = Counter(metric for r in records for metric in r.unscored if metric not in metrics)
    return {metric: f"none of {n} answers could be scored; samples.jsonl says why" for metric, n in counts.items()}


def _median(values: Iterable[float]) -> float:
    return median(list(values) or [0.0])
