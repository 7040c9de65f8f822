"""The report of several runs as Markdown: no text of the data is in it, so it can be published."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from eval.errors import DataError
from eval.reporting.stats import compare
from eval.running.folder import load_run
from eval.running.record import MetricSummary, Record, Run, scores_of

SEED = 0
BASELINE = "standard"
ALIKE = (
    "No language model was configured: every system copies sentences of the passages that it retrieved, so systems "
    "that retrieve the same passages agree, or nearly."
)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of GitHub's Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["--"] * len(head), *rows))


def report(folders: Sequence[Path]) -> str:
    """One section a run: scores with paired differences, cost, strata, what is missing.

    Differences are to ``standard``, or to the first system of a run without it.

    Args:
        folders: The folders of the runs, in this order.

    Raises:
        MissingPathError: No such run.
        DataError: A run's files are broken, or it has no system yet.
    """
    return "\n\n".join(part for folder in folders for part in _section(*load_run(folder))) + "\n"


def _section(run: Run, records: Sequence[Record]) -> Iterator[str]:
    if not run.systems:
        raise DataError(f"{run.suite} has no system yet.", hint="Run it first.")
    base = BASELINE if BASELINE in run.systems else next(iter(run.systems))
    state = "" if run.finished else " Unfinished: questions are missing, numbers will change."
    yield f"## {run.suite}\n\n{run.dataset}: {run.n} questions, {run.documents} documents, seed {run.seed}.{state}"
    metrics = list(dict.fromkeys(m for s in run.systems.values() for m in s.metrics))
    yield f"Means, and differences to {base} with 95 % intervals; bold where the interval excludes 0."
    yield markdown_table(
        ["system", *metrics],
        [[system, *(_cell(run, records, system, base, metric) for metric in metrics)] for system in run.systems],
    )
    yield "Cost: of the language model; median seconds and words a question."
    yield markdown_table(["system", "calls", "tokens in", "tokens out", "seconds", "words"], list(_costs(run)))
    for stratum in dict.fromkeys(name for s in run.systems.values() for name in s.strata):
        yield markdown_table([stratum, "system", *metrics], list(_stratum(run, stratum, metrics)))
    yield "\n".join(f"- {line}" for line in remarks(run)) or "- Nothing is missing."


def _cell(run: Run, records: Sequence[Record], system: str, base: str, metric: str) -> str:
    mean = _mean(run.systems[system].metrics.get(metric))
    own, theirs = (scores_of(records, name, metric) for name in (system, base))
    pair = compare(own, theirs, seed=SEED)
    return mean if system == base or pair is None else f"{mean} ({pair.shown})"


def _mean(summary: MetricSummary | None) -> str:
    if summary is None:
        return "–"
    return f"{summary.mean:.1f}" + (f", {summary.unscored} unscored" if summary.unscored else "")


def _costs(run: Run) -> Iterator[list[str]]:
    for name, s in run.systems.items():
        yield [name, *(f"{n:,}" for n in (s.calls, s.tokens_in, s.tokens_out)), f"{s.seconds:.1f}", f"{s.words:.0f}"]


def _stratum(run: Run, stratum: str, metrics: Sequence[str]) -> Iterator[list[str]]:
    for name, summary in run.systems.items():
        for value, means in summary.strata.get(stratum, {}).items():
            yield [value, name, *(_mean(means.get(metric)) for metric in metrics)]


def remarks(run: Run) -> list[str]:
    """What a reader of the numbers must know."""
    systems = run.systems.items()
    missing = {metric: why for _, s in systems for metric, why in s.missing.items()}
    return [
        *(f"{metric}: not computed. {why}" for metric, why in missing.items()),
        *(f"{system}: not run. {why}" for system, why in run.skipped.items()),
        *(f"{system}: {s.label}" for system, s in systems if s.label),
        *(f"{system}: {s.errors} questions without an answer" for system, s in systems if s.errors),
        *(f"{count} left out: {why}" for why, count in run.dropped.items()),
        *([run.note] if run.note else []),
        *([ALIKE] if run.versions.get("llm") == "none" and len(run.systems) > 1 else []),
    ]
