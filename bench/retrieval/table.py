"""Results of the retrieval benchmark: means with intervals, gains over flat sentences, a file and a Markdown table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from bench.retrieval.questions import Half
from discorag.types.errors import InvariantError
from eval.reporting.stats import Interval, mean_interval, paired

OUT = Path("bench/results/retrieval.json")
BASELINE = "flat_sentence"
GAIN = "_gain"
"""Behind a metric's name: the difference to the baseline, question by question."""
_SEED = 20261
_SORTED = ("dataset", "encoder", "method")

Budget: TypeAlias = int | Literal["all"]


class Scores(BaseModel):
    """One measure of one method on the questions of a dataset.

    Args:
        budget: Words, or ``all``: each question's mean over the budgets.
        values: Question id -> score, 0 to 100; the measure applies to these questions.
    """

    model_config = ConfigDict(frozen=True)

    dataset: str
    half: Half
    method: str
    encoder: str
    budget: Budget
    metric: str
    values: Mapping[str, float] = Field(min_length=1, repr=False)


class Row(BaseModel):
    """A figure of the result file, in score points.

    Args:
        metric: A measure, or a measure's gain over the baseline (``evidence_recall_gain``).
        value: Mean over questions.
        low, high: 95 % bootstrap interval over questions (of a gain: paired); None for a single question.
        n: Questions.
    """

    model_config = ConfigDict(frozen=True)

    dataset: str
    half: Half
    method: str
    encoder: str
    budget: Budget
    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


def over_budgets(scores: Iterable[Scores]) -> list[Scores]:
    """For every method and measure each question's mean over the budgets, as budget ``all``.

    Raises:
        InvariantError: The budgets were not measured on the same questions.
    """
    groups: dict[tuple[str, ...], list[Scores]] = {}
    for one in scores:
        groups.setdefault((one.dataset, one.half, one.method, one.encoder, one.metric), []).append(one)
    return [_mean(group) for group in groups.values()]


def rows(scores: Sequence[Scores], baseline: str = BASELINE) -> list[Row]:
    """The figures: for every entry its mean, and if it is not the baseline's its gain.

    Args:
        scores: Of every method.
        baseline: The method that gains are counted from.

    Raises:
        InvariantError: The baseline is missing, or was measured on other questions.
    """
    baselines = {_place(one): one for one in scores if one.method == baseline}
    found: list[Row] = []
    for one in scores:
        values = list(one.values.values())
        found.append(_row(one, one.metric, fmean(values), mean_interval(values, seed=_SEED)))
        if one.method != baseline:
            a, b = _matched(one, baselines.get(_place(one)), baseline)
            gain = paired(a, b, seed=_SEED)
            found.append(_row(one, one.metric + GAIN, gain.difference, gain.interval))
    return found


def write(found: Sequence[Row], path: Path = OUT) -> None:
    """Write the result file ``{"rows": [...]}``, numbers with two decimals."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(_rounded(row), ensure_ascii=False) for row in found]
    path.write_text('{"rows": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """The new figures, and of the old ones those that were not measured again; datasets, encoders, methods together.

    A figure over another number of questions is another figure.
    """
    found = {_key(row): row for row in [*old, *new]}
    places = [list(dict.fromkeys(getattr(row, name) for row in found.values())) for name in _SORTED]
    return sorted(
        found.values(), key=lambda row: [at.index(getattr(row, n)) for n, at in zip(_SORTED, places, strict=True)]
    )


def read(path: Path = OUT) -> list[Row]:
    """What `write` wrote."""
    return [Row.model_validate(row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def markdown(found: Sequence[Row], *, metric: str, budget: Budget, half: Half) -> str:
    """A Markdown table: methods by datasets and encoders, each cell the mean and the gain with its interval.

    The gain is bold where its interval lies on one side of 0. Methods in the order in which they appear; empty without
    figures.
    """
    chosen = [row for row in found if row.budget == budget and row.half == half]
    means = {(row.method, row.dataset, row.encoder, row.n): row for row in chosen if row.metric == metric}
    gains = {(row.method, row.dataset, row.encoder, row.n): row for row in chosen if row.metric == metric + GAIN}
    columns = list(dict.fromkeys((row.dataset, row.encoder, row.n) for row in means.values()))
    heads = [f"{dataset}, {encoder} (n = {n})" for dataset, encoder, n in columns]
    lines = [["method", *heads], ["---", *("---:" for _ in columns)]] if means else []
    for method in dict.fromkeys(row.method for row in means.values()):
        keys = [(method, *column) for column in columns]
        lines.append([method, *(_cell(means.get(key), gains.get(key)) for key in keys)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _key(row: Row) -> tuple[str, ...]:
    return (row.dataset, row.half, row.method, row.encoder, str(row.budget), row.metric, str(row.n))


def _place(one: Scores) -> tuple[str, ...]:
    return (one.dataset, one.half, one.encoder, str(one.budget), one.metric)


def _mean(group: Sequence[Scores]) -> Scores:
    first = group[0]
    if any(one.values.keys() != first.values.keys() for one in group):
        raise InvariantError(
            f"{first.method} on {first.dataset}: budgets differ in their questions.", hint="Measure all of them again."
        )
    values = {question: fmean(one.values[question] for one in group) for question in first.values}
    return first.model_copy(update={"budget": "all", "values": values})


def _matched(one: Scores, other: Scores | None, name: str) -> tuple[list[float], list[float]]:
    """The scores of both in the same order; ``name`` is the other's."""
    if other is None or other.values.keys() != one.values.keys():
        where = f"{one.dataset} ({one.encoder}, {one.budget}, {one.metric})"
        raise InvariantError(
            f"{where}: {name} was not measured on the questions of {one.method}.",
            hint="Measure both on the same data.",
        )
    return list(one.values.values()), [other.values[question] for question in one.values]


def _row(one: Scores, metric: str, value: float, interval: Interval | None) -> Row:
    return Row(
        **one.model_dump(exclude={"values", "metric"}),
        metric=metric,
        value=value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n=len(one.values),
    )


def _rounded(row: Row) -> dict[str, object]:
    return {k: round(v, 2) if isinstance(v, float) else v for k, v in row.model_dump().items()}


def _cell(mean: Row | None, gain: Row | None) -> str:
    if mean is None:
        return "-"
    if gain is None:
        return f"{mean.value:.1f}"
    if gain.low is None or gain.high is None:
        return f"{mean.value:.1f} ({gain.value:+.1f})"
    said = f"{gain.value:+.1f} [{gain.low:.1f}, {gain.high:.1f}]"
    return f"{mean.value:.1f} ({f'**{said}**' if gain.low > 0 or gain.high < 0 else said})"
