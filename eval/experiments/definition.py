"""Experiments: one table or figure of a paper each (``eval/experiments/*.yaml``), and what it takes to run them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from discorag.schema.errors import ConfigError
from eval.running.bill import Bill
from eval.running.summary import DERIVED
from eval.suite import FOLDER, Suite, checked, find_system, load_suite, read_yaml

BILLS = FOLDER / "experiments" / "bills.json"
"""What the systems of experiments were counted to take, by experiment."""


class Point(BaseModel, frozen=True, extra="forbid"):
    """One setting of an experiment that varies something; the only one of most.

    Args:
        label: As in the table; empty where nothing varies.
        suite: Another suite than the experiment's.
        options: Fields of the suite, over the experiment's own.
        chunk_tokens: Another chunk size.
        model: Environment variable that names another language model than the configured one.
        rows: Only these rows; empty: all.
    """

    label: str = ""
    suite: str = ""
    options: dict[str, Any] = {}
    chunk_tokens: int | None = Field(default=None, ge=16)
    model: str = ""
    rows: tuple[str, ...] = ()


class Printed(BaseModel, frozen=True, extra="forbid"):
    """Numbers of a row as the paper prints them; ``values``: column -> one for each of the experiment's ``models``."""

    row: str
    point: str = ""
    where: dict[str, str] = {}
    values: dict[str, tuple[float | None, ...]]


class Experiment(BaseModel, frozen=True, extra="forbid"):
    """A table or figure, as far as it can be run.

    Args:
        name: As on the command line.
        item: Paper and table or figure.
        about: One line.
        suite: The suite; empty where ``command`` runs it, or each point names its own.
        options: Fields of the suite that differ.
        points: What varies.
        rows: Row of the table -> system.
        reference: The row from which the others are subtracted.
        columns: Column -> metric; ``tokens``, ``seconds`` and ``attention_entropy`` are of the run, not of the answer.
        by: Groups of strata for which the table has lines of their own; ``[]`` are all questions.
        models: Language models of the printed numbers.
        printed: The numbers.
        needs: What no option can give: people, a corpus under a licence, servers.
        command: The command that runs it, where it is another.
        form: ``ratings``: summaries on a scale of 1 to 3 (table 5); ``acceptable``: structures, yes or no (appendix D).
        sample: Questions that are rated.
        note: How it differs from the paper.
    """

    name: str
    item: str
    about: str
    suite: str = ""
    options: dict[str, Any] = {}
    points: tuple[Point, ...] = (Point(),)
    rows: dict[str, str] = {}
    reference: str = ""
    columns: dict[str, str] = {}
    by: tuple[tuple[str, ...], ...] = ((),)
    models: tuple[str, ...] = ("Llama-3.3-70B",)
    printed: tuple[Printed, ...] = ()
    needs: tuple[str, ...] = ()
    command: str = ""
    form: Literal["", "ratings", "acceptable"] = ""
    sample: int = 0
    note: str = ""

    def suite_at(self, point: Point, limit: int | None = None) -> Suite:
        """The suite of one point: its rows' systems and the metrics of the columns. Raises as `load_suite`."""
        suite = load_suite(point.suite or self.suite)
        metrics = [m for m in self.columns.values() if m not in OF_THE_RUN]
        metrics = [part for m in metrics for part in DERIVED.get(m, (m,))] or list(suite.metrics[:1])
        options: dict[str, Any] = {
            **suite.model_dump(),
            "only": {},
            **self.options,
            **point.options,
            "systems": list(self.systems_at(point).values()),
            "metrics": metrics,
            "main": metrics[:1],
        }
        label = "-".join(filter(None, (self.name, point.label.replace(" ", "-"))))
        changed = checked(Suite, {**options, "name": label}, self.name)
        return changed.model_copy(update={"limit": limit}) if limit else changed

    def systems_at(self, point: Point) -> dict[str, str]:
        """Row -> system."""
        return {row: system for row, system in self.rows.items() if not point.rows or row in point.rows}

    def printed_for(self, row: str, point: str, where: dict[str, str], column: str) -> str:
        """The paper's numbers of a cell, one a model, or a dash."""
        for line in self.printed:
            if (line.row, line.point, line.where) == (row, point, where) and column in line.values:
                return " / ".join("–" if v is None else f"{v:g}" for v in line.values[column])
        return "–"


OF_THE_RUN = ("tokens", "seconds", "attention_entropy")
"""Columns that a record tells, not a metric."""
MODELS = {
    **dict.fromkeys(("judge_score", "judge_perfect"), "a judge (--judge-url)"),
    "dr_ovscore": "a SQuAD 2.0 reader (--reader)",
    "bertscore": "a BERTScore model (--bertscore)",
    "summac_zs": "an NLI model (--summac)",
    "summac_conv": "the package summac",
    "attention_entropy": "a causal language model (--attention)",
}
"""Metric -> what computes it."""


def experiment_names() -> list[str]:
    """The experiments there are."""
    return sorted(p.stem for p in (FOLDER / "experiments").glob("*.yaml"))


def load_experiment(name: str) -> Experiment:
    """The experiment ``eval/experiments/<name>.yaml``.

    Raises:
        ConfigError: There is none, or it names a field, a suite, a system or a row that does not exist.
    """
    path = FOLDER / "experiments" / f"{name}.yaml"
    if not path.is_file():
        raise ConfigError(f"There is no experiment {name!r}.", hint=f"There are {', '.join(experiment_names())}.")
    experiment = checked(Experiment, read_yaml(path), path.name)
    for system in experiment.rows.values():
        find_system(system)
    named = {p.row for p in experiment.printed}.union(*(p.rows for p in experiment.points), [experiment.reference])
    if unknown := sorted(named - {"", *experiment.rows}):
        raise ConfigError(f"{path.name} has no rows {unknown}.", hint=f"Its rows: {', '.join(experiment.rows)}.")
    return experiment


def state(experiment: Experiment, data: Path | None, *, has_model: bool) -> str:
    """Whether an experiment runs here, else what it lacks: data and from where, an endpoint and the bill, people."""
    names = dict.fromkeys(p.suite or experiment.suite for p in experiment.points)
    suites = [load_suite(name) for name in names if name]
    lacking = [f"data: {s.path} from {s.source}" for s in suites if data is None or not (data / s.path).exists()]
    lacking += [f"a language model in {p.model}" for p in experiment.points if p.model and not os.environ.get(p.model)]
    if not has_model and any(find_system(s).needs_llm for s in experiment.rows.values()):
        lacking.append(f"an endpoint{_committed_bill(experiment)}")
    lacking += [MODELS[metric] for metric in experiment.columns.values() if metric in MODELS]
    lacking += [*experiment.needs, *([f"the command {experiment.command}"] if experiment.command else [])]
    return f"needs {'; '.join(dict.fromkeys(lacking))}" if lacking else "runs here"


def _committed_bill(experiment: Experiment) -> str:
    committed: dict[str, list[Any]] = read_yaml(BILLS)["bills"]
    bills = [Bill.model_validate(bill) for bill in committed.get(experiment.name, [])]
    return f" ({total_of(bills) if bills else 'the bill by --dry-run'})"


def total_of(bills: list[Bill]) -> str:
    """All calls and tokens of bills in words."""
    calls, read, written = (sum(getattr(b, k) for b in bills) for k in ("calls", "tokens_in", "tokens_out"))
    return f"{calls:,} calls, {read / 1e6:,.1f} M tokens in, {written / 1e6:,.1f} M out"
