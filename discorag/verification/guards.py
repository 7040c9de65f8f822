"""What every engine keeps to, whoever judges: figures and quotations of a sentence stand in its evidence."""

from __future__ import annotations

import re

from discorag.claims.features import missing_figures
from discorag.text.sentences import language_of
from discorag.text.terms import terms
from discorag.verification.judge import Claim, Verdict

_QUOTED = re.compile(r"[\"“„«「]([^\"“”„«»「」]{3,})[\"”“»」]")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_COVERED = 0.6  # share of a sentence's terms that one place must hold where no model knows the language
_DENIALS = "不没無无未非别莫勿毋"


def guarded(claim: Claim, verdict: Verdict) -> Verdict:
    """The verdict, unless the places that it names lack a figure or a quotation of the sentence."""
    evidence = " ".join(claim.places[i].text for i in verdict.places)
    return Verdict((), 0.0, reason) if verdict.supported and (reason := lacking(claim.sentence, evidence)) else verdict


def lacking(sentence: str, evidence: str) -> str:
    """Which figure or quotation of the sentence the evidence lacks, in one plain sentence; empty if none."""
    english = language_of(sentence) == "en"
    missing = missing_figures(sentence, evidence) if english else sorted(_digits(sentence) - _digits(evidence))
    if missing:
        return f"The number {missing[0]} is not in the evidence."
    said = " ".join(evidence.casefold().split())
    quoted = [q for q in _QUOTED.findall(sentence) if " ".join(q.casefold().split()).strip(" .,!?") not in said]
    return f'The evidence does not have the words "{quoted[0]}".' if quoted else ""


def literal(claim: Claim) -> Verdict:
    """By its terms, figures and negations alone: for languages that the model of support does not know."""
    wanted = frozenset(terms(claim.sentence))
    shares = [len(wanted & frozenset(terms(p.text))) / max(1, len(wanted)) for p in claim.places]
    best = max(range(len(shares)), key=shares.__getitem__)
    if shares[best] < _COVERED:
        return Verdict((), shares[best], f"Only {shares[best]:.0%} of its words are in one place.")
    if _denials(claim.sentence) != _denials(claim.places[best].text):
        return Verdict((), 0.0, "It denies what the evidence affirms, or the other way round.")
    return guarded(claim, Verdict((best,), shares[best]))


def _digits(text: str) -> set[str]:
    return {m.replace(",", "").rstrip(".") for m in _DIGITS.findall(text)}


def _denials(text: str) -> int:
    return sum(text.count(c) for c in _DENIALS)
