"""From replies to outcomes, one a question: what a reply is worth, without its text."""

import re
from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from bench.answers.baselines import Ranking, sentence_places
from bench.answers.lint import faults
from bench.answers.replies import Reply, Sentence
from bench.answers.sets import KEYS
from eval.metrics.normal import normalise
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

BY_STRING = ("nq/own",)
"""Runs whose gold evidence is only the places of accepted strings."""
SIMPLE = ("bm25", "cosine", "reranker")
Words = tuple[int, int, int]
"""Words that were rightly, wrongly and not marked."""
Places = Mapping[str, Sequence[DocSpan]]
"""System -> what its answer quotes."""


class Outcome(BaseModel):
    """What became of one question; no text of it.

    Args:
        answerable: Whether its documents answer it.
        refused: Whether it was refused.
        probability: That the question is answerable, by the product; None if it gives none.
        scores: Baseline -> its score of the best passage or sentence.
        first: System -> whether its first sentence rests on gold evidence. ``product`` is the product with refusal off,
            ``product_refusing`` with its default settings. Empty where that is not asked, as in the next three.
        f1: System -> F1 of its sentences against the gold sentences.
        words: System -> counts of words in evidence spans against gold spans.
        sides: System -> how many of the two contradicting statements it has evidence from.
        spans: Evidence spans.
        exact: Those whose text equals the document's.
        conflicts: Digests of the conflicts that it reports.
        faults: Faults of its sentences; see `bench.answers.lint`.
    """

    model_config = ConfigDict(frozen=True)

    answerable: bool
    refused: bool
    probability: float | None = None
    scores: dict[str, float] = {}
    first: dict[str, bool] = {}
    f1: dict[str, float] = {}
    words: dict[str, Words] = {}
    sides: dict[str, int] = {}
    spans: int = 0
    exact: int = 0
    conflicts: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


Outcomes = Mapping[str, Outcome]


def outcome(sample: Sample, reply: Reply, ranking: Ranking | None, run: str, benchmark: Benchmark) -> Outcome:
    """The outcome of a question in the run of that name."""
    answers = answers_of(reply, ranking, benchmark.documents)
    quoted = {name: [place for s in found for place in s.quoted] for name, found in answers.items()}
    return Outcome(
        answerable=sample.answerable and not run.endswith("/without"),
        refused=bool(reply.refused),
        probability=reply.answerable,
        scores=ranking.scores if ranking else {},
        first=_first(sample, answers, run, benchmark) if sample.answerable and run in KEYS["first_sentence"] else {},
        f1=_f1(sample, quoted, benchmark) if sample.answerable and run in KEYS["f1"] else {},
        words=_words(sample, quoted, benchmark) if run in KEYS["acl_verbatim"] else {},
        sides=_sides(sample, quoted, ranking) if run in KEYS["both_sides"] else {},
        spans=reply.spans,
        exact=reply.exact,
        conflicts=tuple(conflict.id for conflict in reply.conflicts),
        faults=faults(reply.sentences),
    )


def answers_of(
    reply: Reply, ranking: Ranking | None, documents: Mapping[str, SourceDocument]
) -> dict[str, Sequence[Sentence]]:
    """Each system's sentences, best first."""
    best = ranking.best if ranking else {}
    simple = {
        name: [Sentence(text=p.span.of(documents[p.doc].text), evidence=(p,)) for p in best[name]]
        for name in SIMPLE
        if name in best
    }
    return {"product": reply.best_effort, "product_refusing": reply.sentences, **simple}


def _first(
    sample: Sample, answers: Mapping[str, Sequence[Sentence]], run: str, benchmark: Benchmark
) -> dict[str, bool]:
    documents = benchmark.documents
    return {name: bool(s) and first_is_gold(sample, s[0], run, documents) for name, s in answers.items()}


def _f1(sample: Sample, quoted: Places, benchmark: Benchmark) -> dict[str, float]:
    units = [place for doc in sample.documents for place in sentence_places(benchmark.documents[doc])]
    gold = units_at(units, [place for piece in sample.gold for place in piece.anywhere])
    return {name: f1(units_at(units, places), gold) for name, places in quoted.items()}


def _words(sample: Sample, quoted: Places, benchmark: Benchmark) -> dict[str, Words]:
    text = benchmark.documents[sample.documents[0]].text
    gold = words_at(text, [place for piece in sample.gold for place in piece.anywhere])
    marked = {name: words_at(text, places) for name, places in quoted.items()}
    return {name: (len(found & gold), len(found - gold), len(gold - found)) for name, found in marked.items()}


def _sides(sample: Sample, quoted: Places, ranking: Ranking | None) -> dict[str, int]:
    each = ranking.best.get("bm25_each", ()) if ranking else ()
    return {name: sides_held(sample, places) for name, places in {**quoted, "bm25_each": each}.items()}


def first_is_gold(sample: Sample, first: Sentence, run: str, documents: Mapping[str, SourceDocument]) -> bool:
    """Whether at least half of an evidence span of the first sentence lies in gold evidence, its context aside.

    In a run of `BY_STRING`, and where no gold evidence is in the text (QASPER: a figure, a table), an accepted
    string must be in the evidence instead.
    """
    gold = [piece for piece in sample.gold if piece.label != "highlight"]
    if gold and run not in BY_STRING:
        return any(is_inside(place, gold) for place in first.evidence)
    text = normalise(" ".join(place.span.of(documents[place.doc].text) for place in first.evidence))
    accepted = [a for point in sample.short_answers for a in point] or [*sample.references]
    return any(answer in text for answer in map(normalise, accepted) if answer)


def is_inside(place: DocSpan, gold: Iterable[Gold]) -> bool:
    """Whether at least half of a place lies in one piece of gold evidence."""
    common = (overlap(place, g) for piece in gold for g in piece.anywhere)
    return 2 * max(common, default=0) >= length(place)


def length(place: DocSpan) -> int:
    """Characters of a place."""
    return place.span.end - place.span.start


def overlap(a: DocSpan, b: DocSpan) -> int:
    """Characters that two places have in common."""
    return max(0, min(a.span.end, b.span.end) - max(a.span.start, b.span.start)) if a.doc == b.doc else 0


def units_at(units: Sequence[DocSpan], places: Sequence[DocSpan]) -> frozenset[int]:
    """Which sentences the places take in: half of the sentence, or half of the place, is common to both."""
    return frozenset(
        i for i, u in enumerate(units) if any(2 * overlap(u, p) >= min(length(u), length(p)) for p in places)
    )


def f1(found: frozenset[int], gold: frozenset[int]) -> float:
    """F1 of two sets; 0 if both are empty."""
    return 2 * len(found & gold) / (len(found) + len(gold)) if found or gold else 0.0


def words_at(text: str, places: Sequence[DocSpan]) -> frozenset[int]:
    """Which words of the text overlap one of the places."""
    spans = [place.span for place in places]
    found = enumerate(re.finditer(r"\S+", text))
    return frozenset(i for i, m in found if any(m.start() < s.end and s.start < m.end() for s in spans))


def sides_held(sample: Sample, places: Sequence[DocSpan]) -> int:
    """How many gold pieces at least one of the places touches."""
    return sum(any(overlap(place, g) for place in places for g in piece.anywhere) for piece in sample.gold)
