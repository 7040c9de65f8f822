"""Scores of QASPER: of the answer, and of the evidence over paragraphs (official) or tokens (DISRetrieval)."""

from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

from eval.metrics.base import Budgeted, Given
from eval.metrics.evidence import best_place, cut, evidence_text, retrieved_parts
from eval.metrics.normal import answer_tokens, best_token_f1
from eval.sample import Gold

_EVIDENCE = "evidence"
_HIGHLIGHT = "highlight"


@dataclass(frozen=True)
class QasperAnswerF1:
    """Answer F1 of QASPER (Dasigi et al. 2021, section 4): token F1, best over the annotators' answers.

    References are as the official evaluator writes them: "Unanswerable", "Yes" or "No" for those answers, extracted
    spans joined by ", ", else the free-form text.
    """

    name: str = "answer_f1"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references."""
        references = given.sample.references
        return 100 * best_token_f1(given.answer, references) if references else None


@dataclass(frozen=True)
class QasperEvidenceF1(Budgeted):
    """F1 between retrieved and gold paragraphs, the best over annotators (Dasigi et al. 2021, official evaluator).

    A paragraph (one of the document's parts) is retrieved if at least half of it lies in the cut evidence. Evidence in
    figures and tables is left out, as under the evaluator's ``text_evidence_only``. ``Sample.references`` has one entry
    for each annotator; one who marked nothing is matched by retrieving no paragraph only.
    """

    stem: str = "qasper_evidence_f1"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None for an answerable question without marked paragraphs."""
        annotators = _by_annotator(given, _EVIDENCE)
        if not annotators and not _unanswerable(given):
            return None
        predicted = retrieved_parts(given, self.budget)
        if not predicted:
            return 100.0 * (len(annotators) < len(given.sample.references))
        wanted = [self._paragraphs(given, gold) for gold in annotators.values()]
        return 100 * max((f1(Counter(predicted), Counter(w))[0] for w in wanted), default=0.0)

    def _paragraphs(self, given: Given, gold: list[Gold]) -> set[tuple[str, int]]:
        pieces = cut(given, self.budget)
        return {
            (place.doc, i)
            for place in (best_place(piece, pieces) for piece in gold)
            for i, part in enumerate(given.documents[place.doc].parts)
            if place.span.contains(part) or part.contains(place.span)
        }


@dataclass(frozen=True)
class DisRetrieval(Budgeted):
    """F1 between the tokens of the retrieved and of the highlighted text (DISRetrieval's evaluator), or recall.

    Both texts are normalised as in SQuAD and compared as bags of tokens. F1 is the best over annotators, recall that of
    the annotator with the best F1. An answerable question without highlights (its evidence is in figures) counts 0.
    """

    stem: Literal["disretrieval_f1", "disretrieval_recall"]

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without references."""
        if not given.sample.references:
            return None
        best_f1, recall = _highlights(given, self.budget)
        return 100 * (best_f1 if self.stem == "disretrieval_f1" else recall)


def f1(predicted: Counter[Hashable], gold: Counter[Hashable]) -> tuple[float, float]:
    """F1 and recall, 0 to 1, of two bags; both 0 if they share nothing."""
    same = (predicted & gold).total()
    if not same:
        return 0.0, 0.0
    return 2 * same / (predicted.total() + gold.total()), same / gold.total()


def _highlights(given: Given, words: int) -> tuple[float, float]:
    """F1 and recall of the best annotator, 0 to 1. An unanswerable question is matched by retrieving nothing only."""
    annotators = _by_annotator(given, _HIGHLIGHT)
    text = evidence_text(given, words)
    if not text:
        return (1.0, 1.0) if len(annotators) < len(given.sample.references) else (0.0, 0.0)
    predicted = _tokens(text)
    texts = [" ".join(given.text(piece.anywhere[0]) for piece in gold) for gold in annotators.values()]
    return max((f1(predicted, _tokens(gold)) for gold in texts), key=lambda pair: pair[0], default=(0.0, 0.0))


def _unanswerable(given: Given) -> bool:
    """Whether no evidence is a label; it is none in documents without paragraphs."""
    return not given.sample.answerable and any(given.documents[doc].parts for doc in given.sample.documents)


def _tokens(text: str) -> Counter[Hashable]:
    return Counter(answer_tokens(text))


def _by_annotator(given: Given, label: str) -> dict[int, list[Gold]]:
    found: dict[int, list[Gold]] = defaultdict(list)
    for gold in given.sample.gold:
        if gold.label == label:
            found[gold.annotator].append(gold)
    return found
