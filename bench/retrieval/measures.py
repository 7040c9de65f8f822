"""How much of the gold evidence a selection holds within a budget of words; 0 to 100, question by question.

Every method is cut to the same number of words before it is measured: a word runs from a letter or digit to the next
white space (`eval.metrics.evidence.cut`). Where several annotators marked evidence, the best match counts, as in
QASPER's evaluator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterator, Mapping, Sequence

from bench.retrieval.questions import Case
from discorag.types.errors import ConfigError
from eval.metrics.base import Given
from eval.metrics.evidence import SpanRecall, cut, evidence_text
from eval.metrics.normal import answer_tokens
from eval.metrics.qasper_evidence import f1
from eval.sample import DocSpan, Sample

BUDGETS = (200, 300, 400)
"""Words, as DISRetrieval limits its evidence."""


async def evidence_recall(case: Case, selected: Sequence[DocSpan], words: int) -> float | None:
    """Share of the gold words that lie whole in the first ``words`` words of the selection; None without evidence.

    Words that pieces of evidence share count once; of a piece that stands in several places the best one counts.
    """
    scores = [
        await SpanRecall(words).score(_given(case, sample, _touching(case, sample, selected, words)))
        for sample in case.annotations
    ]
    return max((score for score in scores if score is not None), default=None)


async def token_f1(case: Case, selected: Sequence[DocSpan], words: int) -> float | None:
    """F1 of the tokens of the selection and of the gold text, both normalised as in SQuAD, as bags.

    The gold text is the evidence in its first places, or the case's references where there is no evidence.
    """
    found = _tokens(case, selected, words)
    return None if found is None else 100 * found[0]


async def token_recall(case: Case, selected: Sequence[DocSpan], words: int) -> float | None:
    """Share of the gold text's tokens in the selection, of the annotator with the best `token_f1`."""
    found = _tokens(case, selected, words)
    return None if found is None else 100 * found[1]


async def document_recall(case: Case, selected: Sequence[DocSpan], words: int) -> float | None:
    """Share of the gold documents of which a word is within the budget; None where all documents are one."""
    if len(case.documents) == 1:
        return None
    sample = Sample(id=case.id, query=case.question)
    found = {piece.doc for piece in cut(_given(case, sample, selected), words)}
    return 100 * len(found & case.gold_documents) / len(case.gold_documents)


Measure = Callable[[Case, Sequence[DocSpan], int], Awaitable[float | None]]
MEASURES: Mapping[str, Measure] = {
    "evidence_recall": evidence_recall,
    "token_f1": token_f1,
    "token_recall": token_recall,
    "document_recall": document_recall,
}


async def measure(case: Case, selected: Sequence[DocSpan], words: int, metrics: Collection[str]) -> dict[str, float]:
    """A selection's scores by name; a measure that does not apply to the case is left out.

    Args:
        case: The question.
        selected: Characters of its documents, best first; they may overlap, what is held already costs no words.
        words: Budget.
        metrics: Keys of `MEASURES`, see `bench.retrieval.datasets.Dataset.metrics`.

    Raises:
        ConfigError: There is no measure of that name.
    """
    if unknown := sorted(set(metrics) - MEASURES.keys()):
        raise ConfigError(f"There is no measure {unknown[0]!r}.", hint=f"There are {', '.join(MEASURES)}.")
    scores = {name: await MEASURES[name](case, selected, words) for name in metrics}
    return {name: score for name, score in scores.items() if score is not None}


def _touching(case: Case, sample: Sample, selected: Sequence[DocSpan], words: int) -> list[DocSpan]:
    """What of the selection within the budget meets evidence: `SpanRecall` compares every word with every piece."""
    places = [place for gold in sample.gold for place in gold.anywhere]
    return [piece for piece in cut(_given(case, sample, selected), words) if any(_meet(piece, p) for p in places)]


def _meet(a: DocSpan, b: DocSpan) -> bool:
    return a.doc == b.doc and a.span.start < b.span.end and b.span.start < a.span.end


def _given(case: Case, sample: Sample, selected: Sequence[DocSpan]) -> Given:
    return Given(sample=sample, documents=case.by_id, answer="", evidence=tuple(selected))


def _tokens(case: Case, selected: Sequence[DocSpan], words: int) -> tuple[float, float] | None:
    """F1 and recall against the gold text that fits best."""
    sample = Sample(id=case.id, query=case.question)
    found = _bag(evidence_text(_given(case, sample, selected), words))
    return max((f1(found, _bag(text)) for text in _gold_texts(case)), key=lambda pair: pair[0], default=None)


def _gold_texts(case: Case) -> Iterator[str]:
    if case.references:
        yield " ".join(case.references)
    for sample in case.annotations:
        places = [gold.anywhere[0] for gold in sample.gold]
        yield " ".join(place.span.of(case.by_id[place.doc].text) for place in places)


def _bag(text: str) -> Counter[Hashable]:
    return Counter[Hashable](answer_tokens(text))
