"""From answers to figures: one outcome a question, then shares over questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import numpy as np
from pydantic import BaseModel, ConfigDict

from bench.answers.asked import Told
from bench.answers.sets import KEYS
from eval.metrics.normal import normalise
from eval.sample import DocSpan, Gold, Sample

ALLOWED = 0.10
"""Share of the answerable questions that may be refused."""
FIRST = KEYS["first_sentence"]
BY_STRING = ("nq/own",)
"""Of these, where gold evidence is no more than the places of accepted strings."""


class Outcome(BaseModel):
    """What became of one question; no text of it.

    Args:
        answerable: Whether its documents answer it.
        refused: Whether it was refused.
        probability: What the code under test says of ``answerable``; None where it says nothing.
        cosine: Of the question and the nearest chunk.
        first: Whether the first sentence rests on gold evidence; None where that is not asked.
        str_em: 0 to 100, 0 for a refusal; None where that is not asked.
        words: Of the answer.
    """

    model_config = ConfigDict(frozen=True)

    answerable: bool
    refused: bool
    probability: float | None = None
    cosine: float = 0.0
    first: bool | None = None
    str_em: float | None = None
    words: int = 0


Outcomes = Mapping[str, Outcome]


def outcome(sample: Sample, told: Told, run: str) -> Outcome:
    """The outcome of a question in the run of that name."""
    return Outcome(
        answerable=sample.answerable and not run.endswith("/without"),
        refused=bool(told.refused),
        probability=told.answerable,
        cosine=told.cosine,
        first=first_is_gold(sample, told, by_string=run in BY_STRING) if run in FIRST else None,
        str_em=str_em(sample, told.text) if sample.short_answers else None,
        words=len(told.text.split()),
    )


def first_is_gold(sample: Sample, told: Told, *, by_string: bool = False) -> bool:
    """Whether the first sentence has evidence inside the gold evidence: half of its characters, at least.

    With ``by_string``, and where no gold evidence stands in the text (QASPER: a figure, a table), an accepted string
    must stand in the sentence instead.
    """
    if not told.sentences:
        return False
    first = told.sentences[0]
    gold = [piece for piece in sample.gold if piece.label != "highlight"]
    if gold and not by_string:
        return any(inside(place, gold) for place in first.evidence)
    said = normalise(first.text)
    accepted = [a for point in sample.short_answers for a in point] or [*sample.references]
    return any(wanted in said for wanted in map(normalise, accepted) if wanted)


def inside(place: DocSpan, gold: Iterable[Gold]) -> bool:
    """Whether at least half of a place lies in one piece of gold evidence."""
    length = place.span.end - place.span.start
    common = (
        min(place.span.end, g.span.end) - max(place.span.start, g.span.start)
        for piece in gold
        for g in piece.anywhere
        if g.doc == place.doc
    )
    return 2 * max(common, default=0) >= length


def str_em(sample: Sample, text: str) -> float:
    """Share of the asked points of which an accepted string stands in the answer (`eval.metrics.strings.StrEm`)."""
    said = normalise(text)
    return 100 * float(np.mean([any(normalise(a) in said for a in point) for point in sample.short_answers]))


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Probability that a positive score is above a negative one; ties count half."""
    above = np.subtract.outer(np.asarray(positive), np.asarray(negative))
    return round(float(((above > 0) + 0.5 * (above == 0)).mean()), 4)


def refused_at(positive: Sequence[float], negative: Sequence[float], allowed: float = ALLOWED) -> float:
    """Share of ``negative`` refused by the highest threshold that refuses at most ``allowed`` of ``positive``.

    Refused is what scores below the threshold, so the threshold is one of the positive scores.
    """
    threshold = sorted(positive)[int(allowed * len(positive))]
    return round(float(np.mean(np.asarray(negative) < threshold)), 4)


def refusal(outcomes: Iterable[Outcome]) -> dict[str, float | int | None]:
    """What was refused rightly and wrongly, by the product and by the best threshold, and the AUC of both scores.

    ``refused_right`` is the share of the unanswerable questions that were refused, ``refused_wrong`` of the answerable.
    """
    found = list(outcomes)
    yes, no = [o for o in found if o.answerable], [o for o in found if not o.answerable]
    figures: dict[str, float | int | None] = {
        "answerable": len(yes),
        "unanswerable": len(no),
        "refused_right": share(o.refused for o in no),
        "refused_wrong": share(o.refused for o in yes),
        "cosine_auc": auc([o.cosine for o in yes], [o.cosine for o in no]),
        "cosine_refused_right_at_10": refused_at([o.cosine for o in yes], [o.cosine for o in no]),
    }
    p, q = ([o.probability for o in part if o.probability is not None] for part in (yes, no))
    complete = len(p) == len(yes) and len(q) == len(no)
    figures["auc"] = auc(p, q) if complete else None
    figures["refused_right_at_10"] = refused_at(p, q) if complete else None
    return figures


def share(hits: Iterable[bool]) -> float:
    """Mean of yes and no."""
    return round(float(np.mean(list(hits))), 4)


def words(outcomes: Iterable[Outcome]) -> float:
    """Median words of the answers that were given."""
    return float(median(o.words for o in outcomes if not o.refused))
