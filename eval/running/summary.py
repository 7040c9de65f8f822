"""From one system's records to its summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import fmean, median

from eval.running.record import MetricSummary, Record, SystemSummary

DR = ("disambig_f1", "rougeLsum")


def summarise(
    records: Sequence[Record], samples_strata: Mapping[str, dict[str, str]], missing: Mapping[str, str]
) -> SystemSummary:
    """Means over scored records, overall and by stratum; totals and medians.

    ``dr_ovscore`` is the geometric mean of mean Disambig-F1 and mean ROUGE-Lsum (ASQA's official ``scoring.py``). A
    metric that applied but could score no answer is listed in ``missing``; it never becomes zero.

    Args:
        records: Of one system.
        samples_strata: Sample id -> its strata.
        missing: Metric -> why it was not computed at all.
    """
    usage = [r.ledger.usage for r in records]
    metrics = _metrics(records)
    return SystemSummary(
        metrics=metrics,
        strata=_strata(records, samples_strata),
        missing={**_never_scored(records, metrics), **missing},
        lost=_lost(records),
        failures=dict(Counter(f.kind for r in records for f in r.ledger.failures)),
        partly_local=sum(bool(r.stood_in) for r in records),
        stood_in=dict(Counter(stage for r in records for stage in r.stood_in)),
        errors=sum(bool(r.error) for r in records),
        tokens_in=sum(u.tokens_in for u in usage),
        tokens_out=sum(u.tokens_out for u in usage),
        calls=sum(u.calls for u in usage),
        seconds=_median(r.seconds for r in records),
        words=_median(float(words(r)) for r in records if not r.error),
    )


def words(record: Record) -> int:
    """Words of the answer, split at white space (``length`` of ASQA's official ``scoring.py``)."""
    return len(record.answer.split())


def _metrics(records: Sequence[Record]) -> dict[str, MetricSummary]:
    scores: dict[str, list[float]] = {}
    for record in records:
        for metric, score in record.scores.items():
            scores.setdefault(metric, []).append(score)
    unscored = Counter(metric for r in records for metric in r.unscored)
    metrics = {m: MetricSummary(mean=fmean(s), n=len(s), unscored=unscored[m]) for m, s in scores.items()}
    if all(metric in metrics for metric in DR):
        metrics["dr_ovscore"] = _ovscore(metrics[DR[0]], metrics[DR[1]])
    return metrics


def _ovscore(f1: MetricSummary, rouge: MetricSummary) -> MetricSummary:
    return MetricSummary(
        mean=sqrt(f1.mean * rouge.mean), n=min(f1.n, rouge.n), unscored=max(f1.unscored, rouge.unscored)
    )


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


def _lost(records: Sequence[Record]) -> dict[str, int]:
    lost: Counter[str] = Counter(piece.stage for r in records for piece in r.lost)
    found = sum(r.found for r in records)
    return {"found": found, **lost} if found or lost else {}


def _median(values: Iterable[float]) -> float:
    found = list(values)
    return median(found) if found else 0.0
