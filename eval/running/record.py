"""One answered question as it is written to ``samples.jsonl``."""

from collections.abc import Iterable

from pydantic import BaseModel

from discorag.schema.errors import ModelError
from discorag.schema.ledger import Ledger
from eval.sample import DocSpan

MODEL_FAILURES = frozenset(error.__name__ for error in (ModelError, *ModelError.__subclasses__()))
"""Kinds of failures of a language model."""


class Record(BaseModel, frozen=True):
    """What one system did with one question.

    Args:
        sample: `Sample.id`.
        system: Name of the system.
        answer: Its answer.
        evidence: Retrieved stretches, best first.
        used: Stretches that sentences of the answer rest on.
        plan: The plan's paragraph, if there was one.
        unsupported: Share of the answer's sentences that were not traced to a source; None for no sentence.
        scores: Metric -> score, 0 to 100. A metric that does not apply is absent.
        unscored: Metric -> why this answer could not be scored.
        ledger: Tokens, seconds, prompt hashes and failures by stage.
        seconds: Wall time of this system alone; stages reused from another system's run are not in it.
        error: Why there is no answer, as ``kind: message``; empty if there is one.
    """

    sample: str
    system: str
    answer: str = ""
    evidence: tuple[DocSpan, ...] = ()
    used: tuple[DocSpan, ...] = ()
    plan: str = ""
    unsupported: float | None = None
    scores: dict[str, float] = {}
    unscored: dict[str, str] = {}
    ledger: Ledger = Ledger()
    seconds: float = 0.0
    error: str = ""

    @property
    def stood_in(self) -> tuple[str, ...]:
        """Stages in which something else, mostly the local engine, stood in for the language model."""
        failed = (f.stage for f in self.ledger.failures if f.kind in MODEL_FAILURES and f.fallback)
        return tuple(dict.fromkeys(failed))


def scores_of(records: Iterable[Record], system: str, metric: str) -> dict[str, float]:
    """Question -> score of one system, where there is one."""
    return {r.sample: r.scores[metric] for r in records if r.system == system and metric in r.scores}


class MetricSummary(BaseModel, frozen=True):
    """A metric over one system's records: mean over ``n`` scored questions; ``unscored`` could not be scored."""

    mean: float
    n: int
    unscored: int = 0


class SystemSummary(BaseModel, frozen=True):
    """One system of a run.

    Args:
        metrics: Metric -> summary over all questions; only metrics with at least one score.
        strata: Stratum -> value -> metric -> summary.
        missing: Metric -> why it was not computed at all (its model is not at hand).
        failures: Kind of failure -> count, over all stages.
        partly_local: Questions in which something stood in for the language model: not the system's own answers.
        stood_in: Stage -> questions in which it did there.
        errors: Questions without an answer.
        tokens_in, tokens_out, calls: Tokens and calls of the language model.
        seconds: Median wall seconds per question.
        words: Median words per answer.
    """

    metrics: dict[str, MetricSummary] = {}
    strata: dict[str, dict[str, dict[str, MetricSummary]]] = {}
    missing: dict[str, str] = {}
    failures: dict[str, int] = {}
    partly_local: int = 0
    stood_in: dict[str, int] = {}
    errors: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0
    seconds: float = 0.0
    words: float = 0.0

    @property
    def label(self) -> str:
        """What must be said next to its scores if they are not all its own; empty otherwise."""
        if not self.partly_local:
            return ""
        stages = ", ".join(f"{stage} {n}" for stage, n in self.stood_in.items())
        return f"partly local: in {self.partly_local} questions something stood in for the language model ({stages})"


class Run(BaseModel, frozen=True):
    """``run.json``: what was run, with what, and what came out.

    Args:
        suite: Suite name and version, e.g. ``asqa/1``.
        dataset: Its dataset and split, e.g. ``asqa (development split, subset)``.
        n: Number of questions.
        documents: Number of documents retrieved from.
        seed: Seed of the choice of questions.
        key: Digest of suite, data and switches: a folder is resumed only under the same key.
        versions: Package or stage -> version.
        hardware: CPU, cores, memory; no host names, no paths.
        dropped: What the loader left out -> count.
        systems: The systems by name.
        skipped: System -> why it was not run (no endpoint configured, say).
        finished: False while questions are missing.
        seconds: Wall time over all sessions, ingest included.
        note: Anything a reader of the numbers must know (judge not comparable, say).
    """

    suite: str
    dataset: str
    n: int
    documents: int
    seed: int
    key: str
    versions: dict[str, str] = {}
    hardware: dict[str, str] = {}
    dropped: dict[str, int] = {}
    systems: dict[str, SystemSummary] = {}
    skipped: dict[str, str] = {}
    finished: bool = False
    seconds: float = 0.0
    note: str = ""
