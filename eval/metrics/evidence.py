"""Whether the gold evidence was retrieved, at a budget of words: scores of the retriever, without any model.

Systems retrieve stretches of different sizes, so all are cut to the same number of words before they are scored.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from discorag.schema.values import Span
from eval.metrics.base import Budgeted, Given
from eval.metrics.normal import CJK
from eval.metrics.strings import has_substring
from eval.sample import DocSpan, Gold

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}][^\s{CJK}]*")
_TOUCHED = 20  # characters of a piece of gold evidence that count as having found it


def cut(given: Given, words: int) -> tuple[DocSpan, ...]:
    """The retrieved evidence, best first, up to ``words`` words; disjoint, as what overlaps is counted once.

    A word runs from a letter or digit to the next white space; a Chinese or Japanese character is one word. The last
    stretch ends with a word.
    """
    pieces: list[DocSpan] = []
    left = words
    for place in _disjoint(given.evidence):
        found = _WORD.finditer(given.documents[place.doc].text, place.span.start, place.span.end)
        ends = [match.end() for match in islice(found, left + 1)]
        if len(ends) > left:
            if left:
                pieces.append(DocSpan(doc=place.doc, span=Span(start=place.span.start, end=ends[left - 1])))
            break
        pieces.append(place)
        left -= len(ends)
    return tuple(pieces)


def evidence_text(given: Given, words: int) -> str:
    """The text of the cut evidence: documents best first, in each its stretches in text order, one a line."""
    by_document: dict[str, list[Span]] = defaultdict(list)
    for piece in cut(given, words):
        by_document[piece.doc].append(piece.span)
    return "\n".join(_text_order(given.documents[doc].text, spans) for doc, spans in by_document.items())


def count_covered(pieces: Iterable[DocSpan], place: DocSpan) -> int:
    """How many characters of ``place`` lie in the disjoint ``pieces``."""
    start, end = place.span.start, place.span.end
    return sum(max(0, min(p.span.end, end) - max(p.span.start, start)) for p in pieces if p.doc == place.doc)


def retrieved_parts(given: Given, words: int) -> set[tuple[str, int]]:
    """The parts of which at least half the characters lie in the cut evidence, as (document, index of the part)."""
    pieces = cut(given, words)
    return {
        (doc, i)
        for doc in {piece.doc for piece in pieces}
        for i, part in enumerate(given.documents[doc].parts)
        if _half_covered(pieces, DocSpan(doc=doc, span=part))
    }


def best_place(gold: Gold, pieces: Iterable[DocSpan]) -> DocSpan:
    """The place of a piece of gold evidence that is covered best; the first of equals."""
    return max(gold.anywhere, key=lambda place: count_covered(pieces, place) / (place.span.end - place.span.start))


@dataclass(frozen=True)
class SpanRecall(Budgeted):
    """Share of the gold words that lie whole in the cut evidence: token-level recall by position.

    Words that several pieces of gold evidence share count once; of a piece with several places the best one counts.
    """

    stem: str = "evidence_recall"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without gold evidence."""
        pieces = cut(given, self.budget)
        gold = {
            DocSpan(doc=place.doc, span=Span(start=match.start(), end=match.end()))
            for place in (best_place(piece, pieces) for piece in given.sample.gold)
            for match in _WORD.finditer(given.documents[place.doc].text, place.span.start, place.span.end)
        }
        return _share(count_covered(pieces, word) == word.span.end - word.span.start for word in gold)


@dataclass(frozen=True)
class PartRecall(Budgeted):
    """Share of the gold parts (turns, sections, sentences) of which at least half lies in the cut evidence.

    Gold parts are those parts of a document that lie inside a piece of gold evidence.
    """

    async def score(self, given: Given) -> float | None:
        """0 to 100; None where no part is gold."""
        pieces = cut(given, self.budget)
        gold = {
            DocSpan(doc=place.doc, span=part)
            for place in (best_place(piece, pieces) for piece in given.sample.gold)
            for part in given.documents[place.doc].parts
            if place.span.contains(part)
        }
        return _share(_half_covered(pieces, part) for part in gold)


@dataclass(frozen=True)
class GoldHit(Budgeted):
    """Share of the pieces of gold evidence of which at least 20 characters (or all) lie in the cut evidence."""

    stem: str = "gold_hit"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without gold evidence."""
        pieces = cut(given, self.budget)
        return _share(any(_touches(pieces, place) for place in gold.anywhere) for gold in given.sample.gold)


@dataclass(frozen=True)
class DocumentRecall(Budgeted):
    """Share of the gold documents among the documents of the first ``budget`` retrieved stretches.

    Gold documents hold gold evidence (of a piece that stands in several documents, any one will do); in a sample
    without gold evidence they are the sample's own documents.
    """

    stem: str = "document_recall"

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without gold evidence and own documents."""
        found = {place.doc for place in given.evidence[: self.budget]}
        gold = {frozenset(place.doc for place in piece.anywhere) for piece in given.sample.gold}
        return _share(bool(docs & found) for docs in gold or {frozenset({d}) for d in given.sample.documents})


@dataclass(frozen=True)
class EvidenceStrEm(Budgeted):
    """Share of the asked points of which a short answer stands in the cut evidence, both normalised as in SQuAD.

    The str-EM of ALCE (Gao et al. 2023) applied to passages, as in RDR2; with ``min``, whether all points stand there.
    """

    stem: str = "evidence_str_em"
    over_points: Callable[[Sequence[bool]], float] = fmean

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without short answers."""
        text = evidence_text(given, self.budget)
        hits = [has_substring(text, accepted) for accepted in given.sample.short_answers]
        return 100.0 * self.over_points(hits) if hits else None


@dataclass(frozen=True)
class EvidenceRankScore:
    """The inverse information rank score of RDR2 (equation 10): the str-EM of each passage over its rank, averaged.

    A passage is a stretch as it was retrieved; what a router takes from several places of a page is several passages.
    """

    name: str = "evidence_rank_score"

    async def score(self, given: Given) -> float | None:
        """0 to 100, and below 100 for more than one passage; None without short answers."""
        points = given.sample.short_answers
        if not points:
            return None
        texts = map(given.text, given.evidence)
        gains = [fmean(has_substring(text, p) for p in points) / rank for rank, text in enumerate(texts, 1)]
        return 100 * fmean(gains or [0.0])


@dataclass(frozen=True)
class EvidenceWords:
    """Words of the retrieved evidence. No score from 0 to 100."""

    name: str = "evidence_words"

    async def score(self, given: Given) -> float:
        """As many as there are between white space."""
        return float(sum(len(given.text(place).split()) for place in _disjoint(given.evidence)))


def _share(hits: Iterable[bool]) -> float | None:
    found = list(hits)
    return 100 * sum(found) / len(found) if found else None


def _half_covered(pieces: Iterable[DocSpan], part: DocSpan) -> bool:
    return 2 * count_covered(pieces, part) >= part.span.end - part.span.start


def _touches(pieces: Iterable[DocSpan], place: DocSpan) -> bool:
    return count_covered(pieces, place) >= min(_TOUCHED, place.span.end - place.span.start)


def _disjoint(places: Iterable[DocSpan]) -> Iterator[DocSpan]:
    """The places in order, each without what earlier ones hold."""
    seen: dict[str, list[Span]] = defaultdict(list)
    for place in places:
        yield from (DocSpan(doc=place.doc, span=span) for span in _without(place.span, seen[place.doc]))
        seen[place.doc].append(place.span)


def _without(span: Span, taken: Iterable[Span]) -> Iterator[Span]:
    at = span.start
    for other in sorted(taken, key=lambda s: s.start):
        gap_end = min(other.start, span.end)
        if at < gap_end:
            yield Span(start=at, end=gap_end)
        at = max(at, other.end)
    if at < span.end:
        yield Span(start=at, end=span.end)


def _text_order(text: str, spans: Iterable[Span]) -> str:
    """The spans' text; what is adjacent in ``text`` stays so."""
    pieces: list[str] = []
    end = -1
    for span in sorted(spans, key=lambda s: s.start):
        pieces += ["\n" if pieces and span.start > end else "", span.of(text)]
        end = span.end
    return "".join(pieces)
