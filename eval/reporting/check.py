"""Whether a run still gives the numbers that were written down."""

from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from discorag.schema.errors import MissingPathError
from eval.errors import DataError, first_error
from eval.running.folder import load_run
from eval.running.record import Run

TOLERANCE = 1.0
"""In score points."""
_ROUNDING = 1e-9


class ExpectedMetric(BaseModel, frozen=True, extra="forbid"):
    """A metric's value, and how far, in score points, a run may be from it."""

    value: float
    tolerance: float = Field(ge=0)


class Expected(BaseModel, frozen=True, extra="forbid"):
    """An expected file: the numbers of one run. ``systems``: system -> metric -> value."""

    suite: str
    dataset: str
    n: int
    systems: dict[str, dict[str, ExpectedMetric]]


def check(run_folder: Path, expected_file: Path) -> list[str]:
    """Where a finished run deviates from the expected file; empty if nowhere.

    Raises:
        MissingPathError: No such run or file.
        DataError: The file is broken, or is of another suite or data; the run is unfinished.
    """
    run, expected = _read_finished(run_folder), _read(expected_file)
    for field in ("suite", "dataset"):
        if getattr(run, field) != getattr(expected, field):
            raise DataError(
                f"{field} differs: {run_folder} has {getattr(run, field)}, "
                f"{expected_file} has {getattr(expected, field)}.",
                hint="Check the run against the expected file of its own suite.",
            )
    count = [f"n: {run.n}, expected {expected.n}"] if run.n != expected.n else []
    return count + [
        f"{system}/{metric}: {_shown(got)}, expected {want.value:.4g} ± {want.tolerance:.4g}"
        for system, metrics in expected.systems.items()
        for metric, want in metrics.items()
        if (got := _measure(run, system, metric)) is None or abs(got - want.value) > want.tolerance + _ROUNDING
    ]


def write_expected(run_folder: Path, file: Path) -> None:
    """Write down a finished run's numbers, with `TOLERANCE` for all.

    Raises:
        MissingPathError: No such run.
        DataError: The run is unfinished.
    """
    run = _read_finished(run_folder)
    systems = {
        system: {metric: ExpectedMetric(value=m.mean, tolerance=TOLERANCE) for metric, m in summary.metrics.items()}
        for system, summary in run.systems.items()
    }
    expected = Expected(suite=run.suite, dataset=run.dataset, n=run.n, systems=systems)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(expected.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _shown(measured: float | None) -> str:
    return "missing" if measured is None else f"{measured:.4g}"


def _measure(run: Run, system: str, metric: str) -> float | None:
    summary = run.systems.get(system)
    found = summary.metrics.get(metric) if summary else None
    return found.mean if found else None


def _read_finished(run_folder: Path) -> Run:
    run, _ = load_run(run_folder)
    if not run.finished:
        raise DataError(f"The run in {run_folder} is unfinished.", hint="Resume it first.")
    return run


def _read(file: Path) -> Expected:
    if not file.is_file():
        raise MissingPathError(f"{file} does not exist.", hint="Write it with `expect`.")
    try:
        return Expected.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise DataError(f"{file}: {first_error(error)}", hint="Write it again with `expect`.") from error
