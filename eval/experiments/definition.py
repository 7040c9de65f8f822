"""Experiments: one table or figure of a paper each (``eval/experiments/*.yaml``), and what it takes to run them."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel

from discorag.config import Settings
from discorag.schema.errors import ConfigError
from discorag.store.records import NOT_MADE
from eval.datasets.sources import SOURCES
from eval.running.bill import Bill
from eval.running.summary import DERIVED
from eval.suite import FOLDER, Suite, find_system, load_suite, read_yaml, validate

OTHERS = FOLDER / "experiments" / "others.yaml"
"""Name -> an experiment that another command runs, or nothing."""


class Point(BaseModel, frozen=True, extra="forbid"):
    """One setting of an experiment that varies something; the only one of most.

    Args:
        label: As in the table; empty where nothing varies.
        suite: Another suite than the experiment's.
        options: Fields of the suite, over the experiment's own.
        switches: Options of all systems, over the experiment's own.
        settings: Section of the product's settings -> field -> value; ``$NAME`` is an environment variable's.
        rows: Only these rows; empty: all.
    """

    label: str = ""
    suite: str = ""
    options: dict[str, Any] = {}
    switches: dict[str, Any] = {}
    settings: dict[str, dict[str, Any]] = {}
    rows: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the folder of its run."""
        return self.label.replace(" ", "-") or "run"

    @property
    def variables(self) -> list[str]:
        """Environment variables that it reads."""
        values = [value for fields in self.settings.values() for value in fields.values()]
        return [value[1:] for value in values if isinstance(value, str) and value.startswith("$")]

    def settings_over(self, base: Settings) -> Settings:
        """The product's settings with its own. Raises `ConfigError` for a wrong value or an unset variable."""
        if unset := [name for name in self.variables if not os.environ.get(name)]:
            raise ConfigError(f"{', '.join(unset)} is not set.", hint="What it names is in the experiment's note.")
        sections: dict[str, BaseModel] = {}
        for name, fields in self.settings.items():
            section: BaseModel = getattr(base, name)
            given = {k: os.environ[v[1:]] if str(v).startswith("$") else v for k, v in fields.items()}
            sections[name] = validate(type(section), {**section.model_dump(), **given}, self.label)
        return base.model_copy(update=sections)


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
        suite: The suite; empty where each point names its own, or nothing is run from here.
        options: Fields of the suite that differ. Trees are made as chunks are retrieved, unless they name a parser.
        switches: Options of all systems, over their own.
        points: What varies.
        rows: Row of the table -> system.
        reference: The row from which the others are subtracted.
        against: Row -> the row from which this one is subtracted instead.
        columns: Column -> metric; ``tokens``, ``seconds`` and ``attention_entropy`` are of the run, not of the answer.
        by: Groups of strata for which the table has lines of their own; ``[]`` are all questions.
        names: Stratum -> value -> how the paper prints it.
        settings_are_rows: Whether the paper's table has a row for each setting, and systems side by side.
        models: Language models of the printed numbers.
        printed: The numbers.
        needs: What no option can give: people, a corpus under a licence, servers.
        command: The command that runs it, where it has no rows.
        form: ``ratings``: summaries on a scale of 1 to 3 (table 5); ``acceptable``: structures, yes or no (appendix D).
        sample: Questions that are rated.
        note: How it differs from the paper.
    """

    name: str
    item: str
    about: str
    suite: str = ""
    options: dict[str, Any] = {}
    switches: dict[str, Any] = {}
    points: tuple[Point, ...] = (Point(),)
    rows: dict[str, str] = {}
    reference: str = ""
    against: dict[str, str] = {}
    columns: dict[str, str] = {}
    by: tuple[tuple[str, ...], ...] = ((),)
    names: dict[str, dict[str, str]] = {}
    settings_are_rows: bool = False
    models: tuple[str, ...] = ("Llama-3.3-70B",)
    printed: tuple[Printed, ...] = ()
    needs: tuple[str, ...] = ()
    command: str = ""
    form: Literal["", "ratings", "acceptable"] = ""
    sample: int = 0
    note: str = ""

    @property
    def beyond_options(self) -> list[str]:
        """What it needs that no option can give."""
        return [*self.needs, *([f"the command {self.command}"] if self.command else [])]

    def narrow(self, labels: Sequence[str]) -> Self:
        """The experiment with the points of these labels only, if any. Raises `ConfigError` for an unknown one."""
        known = [p.label for p in self.points]
        if unknown := sorted({*labels} - {*known}):
            raise ConfigError(f"{self.name} has no settings {unknown}.", hint=f"Its settings: {', '.join(known)}.")
        return self.model_copy(update={"points": tuple(p for p in self.points if not labels or p.label in labels)})

    def suite_at(self, point: Point, limit: int | None = None) -> Suite:
        """The suite of one point: its rows' systems and the metrics of the columns. Raises as `load_suite`."""
        suite = load_suite(point.suite or self.suite)
        metrics = [m for m in self.columns.values() if m not in OF_THE_RUN]
        metrics = [part for m in metrics for part in DERIVED.get(m, (m,))] or list(suite.metrics[:1])
        options: dict[str, Any] = {
            **suite.model_dump(),
            "only": {},
            "parser": NOT_MADE,
            **self.options,
            **point.options,
            "systems": list(self.systems_at(point).values()),
            "metrics": metrics,
            "main": metrics[:1],
        }
        changed = validate(Suite, {**options, "name": f"{self.name}-{point.folder}"}, self.name)
        return changed.model_copy(update={"limit": limit}) if limit else changed

    def systems_at(self, point: Point) -> dict[str, str]:
        """Row -> system."""
        given = {**self.switches, **point.switches}.items()
        options = "".join(f"+{name}={v if isinstance(v, str) else json.dumps(v)}" for name, v in given)
        chosen = {row: system for row, system in self.rows.items() if not point.rows or row in point.rows}
        parts = {row: system.partition("~") for row, system in chosen.items()}
        return {row: f"{root}{options}{sign}{change}" for row, (root, sign, change) in parts.items()}

    def compared_with(self, row: str) -> str:
        """The row from which this one is subtracted."""
        return self.against.get(row, self.reference)

    def find_printed(self, row: str, point: str, where: dict[str, str], column: str) -> tuple[str, ...]:
        """The paper's numbers of a cell, one per model."""
        for line in self.printed:
            if (line.row, line.point, line.where) == (row, point, where) and column in line.values:
                return tuple("–" if v is None else f"{v:g}" for v in line.values[column])
        return ()


OF_THE_RUN = ("tokens", "seconds", "attention_entropy")
"""Columns that a record tells, not a metric; tokens and seconds without trees, see `eval.experiments.table`."""
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
    files = {path.stem for path in OTHERS.parent.glob("*.yaml")} - {OTHERS.stem}
    return sorted(files | read_yaml(OTHERS).keys())


def load_experiment(name: str) -> Experiment:
    """The experiment of this name: of ``eval/experiments/<name>.yaml``, or of ``others.yaml``.

    Raises:
        ConfigError: There is none, or it names a field, a suite, a system or a row that does not exist.
    """
    if name not in experiment_names():
        raise ConfigError(f"There is no experiment {name!r}.", hint=f"There are {', '.join(experiment_names())}.")
    path = OTHERS.parent / f"{name}.yaml"
    body = read_yaml(path) if path.is_file() else read_yaml(OTHERS)[name]
    experiment = validate(Experiment, {"name": name, **body}, path.name)
    for point in experiment.points:
        for system in experiment.systems_at(point).values():
            find_system(system)
    compared = [experiment.reference, *experiment.against, *experiment.against.values()]
    named = {p.row for p in experiment.printed}.union(*(p.rows for p in experiment.points), compared)
    if unknown := sorted(named - {"", *experiment.rows}):
        raise ConfigError(f"{path.name} has no rows {unknown}.", hint=f"Its rows: {', '.join(experiment.rows)}.")
    return experiment


def state(experiment: Experiment, data: Path | None, *, has_model: bool) -> str:
    """Whether an experiment runs here, else what it lacks: data and from where, an endpoint, people."""
    points = experiment.points
    suites = [load_suite(name) for name in dict.fromkeys(p.suite or experiment.suite for p in points) if name]
    absent = [s for s in suites if data is None or not (data / s.path).exists()]
    lacking = [f"data: {s.path} from {SOURCES[s.dataset].published}" for s in absent]
    lacking += [f"the variable {name}" for p in points for name in p.variables if not os.environ.get(name)]
    systems = [system for point in points for system in experiment.systems_at(point).values()]
    if not has_model and any(find_system(name).needs_llm for name in systems):
        lacking.append("an endpoint (--dry-run counts the bill)")
    lacking += [MODELS[metric] for metric in experiment.columns.values() if metric in MODELS]
    lacking += experiment.beyond_options
    return f"needs {'; '.join(dict.fromkeys(lacking))}" if lacking else "runs here"


def total_of(bills: list[Bill]) -> str:
    """All calls and tokens of bills in words."""
    calls, read, written = (sum(getattr(b, k) for b in bills) for k in ("calls", "tokens_in", "tokens_out"))
    return f"{calls:,} calls, {read / 1e6:,.1f} M tokens in, {written / 1e6:,.1f} M out"
