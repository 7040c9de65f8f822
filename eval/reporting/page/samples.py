"""The drill-down: what each system made of single questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.errors import DataError
from eval.running.record import Record
from eval.sample import Benchmark, DocSpan, Sample

DRILL_DOWN = 50
_EXCERPTS = 5
_EXCERPT = 400


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """The beginning of a retrieved stretch."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class SystemView:
    """One system's answer; ``answer``, ``plan`` and ``evidence`` are empty where texts are not shown.

    ``error`` is the error's kind alone unless texts are shown.
    """

    system: str
    scores: Mapping[str, float]
    unscored: Mapping[str, str]
    lost: Mapping[str, int]
    found: int
    error: str
    answer: str
    plan: str
    evidence: Sequence[Excerpt]


@dataclass(frozen=True, kw_only=True)
class SampleView:
    """One question; ``spread`` is best minus worst system on the ranking metric, None if fewer than two have it."""

    id: str
    spread: float | None
    question: str
    references: Sequence[str]
    systems: Sequence[SystemView]


def drill_down(records: Sequence[Record], metric: str, *, texts: bool, benchmark: Benchmark | None) -> list[SampleView]:
    """The samples on which systems differ most in ``metric``, at most `DRILL_DOWN`.

    Raises:
        DataError: The benchmark lacks a sample or a document of the records.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.sample, []).append(record)
    spreads = {sample: _spread(group, metric) for sample, group in groups.items()}
    ranked = sorted(groups, key=lambda sample: -1.0 if (s := spreads[sample]) is None else s, reverse=True)
    samples = {s.id: s for s in benchmark.samples} if benchmark else {}
    views: list[SampleView] = []
    for sample in ranked[:DRILL_DOWN]:
        if benchmark and sample not in samples:
            raise DataError(f"{benchmark.name} has no sample {sample}.", hint="Give the data that the run was made of.")
        views.append(_view(groups[sample], spreads[sample], samples.get(sample), texts=texts, benchmark=benchmark))
    return views


def _spread(group: Sequence[Record], metric: str) -> float | None:
    scores = [r.scores[metric] for r in group if metric in r.scores]
    return max(scores) - min(scores) if len(scores) > 1 else None


def _view(
    group: Sequence[Record], spread: float | None, sample: Sample | None, *, texts: bool, benchmark: Benchmark | None
) -> SampleView:
    return SampleView(
        id=group[0].sample,
        spread=spread,
        question=sample.query if sample else "",
        references=_references(sample) if sample else (),
        systems=[_system(r, texts=texts, benchmark=benchmark) for r in group],
    )


def _references(sample: Sample) -> tuple[str, ...]:
    if sample.references:
        return sample.references
    if sample.correct is not None:
        return (sample.options[sample.correct],)
    return tuple(" / ".join(accepted) for accepted in sample.short_answers)


def _system(record: Record, *, texts: bool, benchmark: Benchmark | None) -> SystemView:
    return SystemView(
        system=record.system,
        scores=record.scores,
        unscored=record.unscored if texts else dict.fromkeys(record.unscored, ""),
        lost=Counter(piece.stage for piece in record.lost),
        found=record.found,
        error=record.error if texts else record.error.partition(":")[0],
        answer=record.answer if texts else "",
        plan=record.plan if texts else "",
        evidence=[_excerpt(place, benchmark) for place in record.evidence[:_EXCERPTS]] if benchmark else (),
    )


def _excerpt(place: DocSpan, benchmark: Benchmark) -> Excerpt:
    document = benchmark.documents.get(place.doc)
    if document is None:
        raise DataError(
            f"{benchmark.name} has no document {place.doc}.", hint="Give the data that the run was made of."
        )
    text = place.span.of(document.text)
    return Excerpt(title=document.title, text=text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…")
