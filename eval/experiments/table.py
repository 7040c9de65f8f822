"""The table of an experiment: the paper's column, ours, and what the reference gains over each row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from eval.experiments.definition import Experiment, Point
from eval.reporting.report import markdown_table
from eval.reporting.stats import Paired, compare, correct_for_number
from eval.running.record import Record
from eval.running.summary import DERIVED, geometric_mean
from eval.sample import Sample

Scores = Mapping[str, float]
"""Question -> score."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One cell of the paper's table as a line of ours; ``gain`` is the row that it is compared with minus this one."""

    row: str
    point: str
    where: dict[str, str]
    column: str
    paper: str
    ours: float | None
    n: int
    gain: Paired | None


def lines_of(
    experiment: Experiment, point: Point, records: Sequence[Record], samples: Sequence[Sample], *, seed: int
) -> list[Line]:
    """The lines of one point; a row whose system was not run has none of ours."""
    found: list[Line] = []
    systems = experiment.systems_at(point)
    for where, (row, system), (column, metric) in product(
        _groups(experiment, samples), systems.items(), experiment.columns.items()
    ):
        chosen = {s.id for s in samples if where.items() <= s.strata.items()}
        reference = experiment.compared_with(row)
        own = _scores(records, system, metric, chosen)
        theirs = _scores(records, systems.get(reference, ""), metric, chosen)
        parts = [_scores(records, system, part, chosen) for part in DERIVED.get(metric, (metric,))]
        found.append(
            Line(
                row=row,
                point=point.label,
                where=where,
                column=column,
                paper=experiment.find_printed(row, point.label, where, column),
                ours=geometric_mean([fmean(part.values()) for part in parts]) if all(parts) else None,
                n=len(parts[0]),
                gain=compare(theirs, own, seed=seed) if row != reference else None,
            )
        )
    return found


def markdown(experiment: Experiment, lines: Sequence[Line], remarks: Sequence[str] = ()) -> str:
    """The table, with p corrected over all of its comparisons (Holm), and what a reader of its numbers must know."""
    ps = iter(correct_for_number([line.gain.p for line in lines if line.gain and line.gain.p is not None]))
    names = [*(["setting"] if any(line.point for line in lines) else []), "system", "questions of", "measure"]
    head = [*names, f"paper ({' / '.join(experiment.models)})", "ours", "n", f"{experiment.reference} −", "p (Holm)"]
    rows: list[list[str]] = []
    for line in lines:
        where = ", ".join(f"{k} {v}" for k, v in line.where.items()) or "all"
        labels = [*([line.point] if len(head) == 9 else []), line.row, where, line.column]
        ours = "–" if line.ours is None else f"{line.ours:.2f}"
        p = f"{next(ps):.3f}" if line.gain and line.gain.p is not None else "–"
        rows.append([*labels, line.paper, ours, str(line.n), _gain_of(line, experiment), p])
    notes = "\n".join(f"- {remark}" for remark in [*filter(None, [experiment.note]), *dict.fromkeys(remarks)])
    return "\n\n".join([f"# {experiment.item}", experiment.about, markdown_table(head, rows), notes]).rstrip() + "\n"


def _gain_of(line: Line, experiment: Experiment) -> str:
    other = experiment.compared_with(line.row)
    return f"{line.gain.shown}{'' if other == experiment.reference else f' ({other} −)'}" if line.gain else "–"


def _groups(experiment: Experiment, samples: Sequence[Sample]) -> list[dict[str, str]]:
    """The values of each group of strata that questions have, in order."""
    found: list[dict[str, str]] = []
    for strata in experiment.by:
        values = sorted({tuple(s.strata.get(name, "") for name in strata) for s in samples})
        found += [dict(zip(strata, v, strict=True)) for v in values]
    return found


def _scores(records: Sequence[Record], system: str, metric: str, chosen: set[str]) -> Scores:
    values = ((r.sample, _value(r, metric)) for r in records if r.system == system and r.sample in chosen)
    return {sample: value for sample, value in values if value is not None}


def _value(record: Record, metric: str) -> float | None:
    if metric == "tokens":
        return float(record.ledger.usage.total)
    return record.seconds if metric == "seconds" else record.scores.get(metric)
