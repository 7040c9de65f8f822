"""The table of an experiment: the paper's column, ours, and what the reference gains over each row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from eval.experiments.definition import Experiment, Point
from eval.reporting.report import markdown_table
from eval.reporting.stats import Paired, compare, correct_for_number
from eval.running.record import Record
from eval.running.summary import DERIVED, geometric_mean
from eval.sample import Sample

TIMED = ("prepare", "retrieve", "rerank", "relate", "plan", "generate")
"""Stages whose seconds are an answer's latency; the check of its sentences is none of the paper's."""
Scores = Mapping[str, float]
"""Question -> score."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One cell of the table: the paper's numbers, one per language model, and ours.

    ``gain`` is the row that it is compared with minus this one.
    """

    row: str
    point: str
    where: dict[str, str]
    column: str
    paper: tuple[str, ...]
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


def markdown(
    experiment: Experiment,
    lines: Sequence[Line],
    remarks: Sequence[str] = (),
    *,
    reader: str = "",
    details: bool = False,
) -> str:
    """The table as the paper lays it out, and what a reader of its numbers must know.

    Each row has the paper's numbers (one line per language model), ours, and what the reference gains over ours,
    with a 95 % interval.

    Args:
        experiment: The table.
        lines: Its cells.
        remarks: Notes on the runs.
        reader: The language model that wrote our answers.
        details: Also list every cell with its n, and p corrected over all comparisons (Holm).
    """
    blocks: dict[str, list[Line]] = {}
    for line in lines:
        blocks.setdefault(_block(experiment, line), []).append(line)
    parts = [f"# {experiment.item}", experiment.about]
    for title, inside in blocks.items():
        parts += [*([f"## {title}"] if title else []), _lay_out(experiment, inside, reader)]
    if details:
        parts += ["## Every cell", _every_cell(experiment, lines)]
    notes = "\n".join(f"- {remark}" for remark in [*filter(None, [experiment.note]), *dict.fromkeys(remarks)])
    return "\n\n".join([*parts, notes]).rstrip() + "\n"


def _block(experiment: Experiment, line: Line) -> str:
    """The heading under which the cell stands: its setting, and the value of the first stratum."""
    first = next(iter(line.where.items()), None)
    setting = "" if experiment.settings_are_rows else line.point
    return ", ".join(filter(None, [setting, _name_stratum(experiment, *first) if first else ""]))


def _lay_out(experiment: Experiment, lines: Sequence[Line], reader: str) -> str:
    """The cells of one block by rows and columns."""
    cells = {_place(experiment, line): line for line in lines}
    rows, columns = (list(dict.fromkeys(place[i] for place in cells)) for i in (0, 1))
    if experiment.settings_are_rows:
        columns.sort(key=lambda label: list(experiment.columns).index(label.rpartition(", ")[2]))
    table = [line for row in rows for line in _row(experiment, row, [cells.get((row, c)) for c in columns], reader)]
    asked = [max(line.n for (_, column), line in cells.items() if column == c) for c in columns]
    return markdown_table(["", *columns], [*table, ["questions", *map(str, asked)]])


def _row(experiment: Experiment, row: str, cells: Sequence[Line | None], reader: str) -> Iterator[list[str]]:
    """The lines of one row: the paper's numbers, ours, and what the reference gains over ours."""
    printed = [cell.paper if cell else () for cell in cells]
    for i, model in enumerate(experiment.models):
        if any(len(values) > i for values in printed):
            yield [f"{row}, paper: {model}", *(values[i] if len(values) > i else "–" for values in printed)]
    yield [f"{row}, ours: {reader}" if reader else f"{row}, ours", *map(_number, cells)]
    gains = [cell.gain.shown if cell and cell.gain else "–" for cell in cells]
    if set(gains) != {"–"}:
        compared = experiment.reference if experiment.settings_are_rows else experiment.compared_with(row)
        yield [f"{compared} − {'the other' if experiment.settings_are_rows else row}, ours", *gains]


def _place(experiment: Experiment, line: Line) -> tuple[str, str]:
    """The cell's row and column."""
    if experiment.settings_are_rows:
        return line.point, f"{line.row}, {line.column}"
    below = [_name_stratum(experiment, name, value) for name, value in list(line.where.items())[1:]]
    overall = ["Overall"] if line.where and not below and len(experiment.by) > 1 else []
    return line.row, " ".join([*below, *overall, line.column])


def _name_stratum(experiment: Experiment, stratum: str, value: str) -> str:
    """A stratum's value as the paper prints it."""
    return experiment.names.get(stratum, {}).get(value, f"{stratum} {value}")


def _number(line: Line | None) -> str:
    return "–" if line is None or line.ours is None else f"{line.ours:.2f}"


def _every_cell(experiment: Experiment, lines: Sequence[Line]) -> str:
    ps = iter(correct_for_number([line.gain.p for line in lines if line.gain and line.gain.p is not None]))
    has_settings = any(line.point for line in lines)
    names = [*(["setting"] if has_settings else []), "system", "questions of", "measure"]
    head = [*names, f"paper ({' / '.join(experiment.models)})", "ours", "n", f"{experiment.reference} −", "p (Holm)"]
    rows: list[list[str]] = []
    for line in lines:
        where = ", ".join(f"{k} {v}" for k, v in line.where.items()) or "all"
        labels = [*([line.point] if has_settings else []), line.row, where, line.column]
        p = f"{next(ps):.3f}" if line.gain and line.gain.p is not None else "–"
        gain = _gain_of(line, experiment)
        rows.append([*labels, " / ".join(line.paper) or "–", _number(line), str(line.n), gain, p])
    return markdown_table(head, rows)


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
    """The record's score, or what its question took without trees, which can be made once for all questions."""
    stages = [s for s in record.ledger.stages if s.stage != "parse"]
    if metric == "tokens":
        return float(sum(s.usage.total for s in stages))
    if metric == "seconds":
        return sum(s.seconds for s in stages if s.stage in TIMED)
    return record.scores.get(metric)
