"""Figures, dates, quotations and names of a sentence, looked up exactly: its evidence has each of them.

A lookup that fails shows that the evidence does not say the sentence; one that succeeds shows nothing.
"""

from __future__ import annotations

import re

from discorag.conflicts.claims.quantities import Quantity, quantities
from discorag.conflicts.claims.words import words
from discorag.text.sentences import language_of

_QUOTED = re.compile(r"[\"“„«「]([^\"“”„«»「」]{3,})[\"”“»」]")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![\w.:/`-])[A-Z][\w’']*(?:-\w+)*")
_WORD = re.compile(r"[^\W_]+")
_AFTER_STOP = re.compile(r"(?:^|[.!?:;“”\"(\[])\W*$")
_GERMAN = frozenset(("und", "ist", "mit", "ein", "eine", "nicht", "wird", "das", "im", "auf", "für"))
_NO_NAMES = frozenset(("i", "mr", "mrs", "ms", "miss", "dr", "prof", "sir", "mx"))
_LEAST_STEM = 4  # letters that "Norway" and "Norwegian" share
_OF_A_PLACE = ("an", "ish", "ese", "ic")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_NUMERIC_DATE = re.compile(r"\b\d{4}-(\d{2})-\d{2}\b|\b\d{1,2}[./](\d{1,2})[./]\d{2,4}\b")
_ROUGHLY = re.compile(
    r"\b(?:over|under|nearly|almost|about|around|roughly|approximately|some|than|least|most|up to|below|above)$", re.I
)
_FEW = 12  # counts up to here are often said in another way: "one out of every two", "on both sides"


def missing_detail(sentence: str, evidence: str) -> str:
    """Return which detail of a sentence the evidence lacks, in one plain sentence; empty if it has all.

    Args:
        sentence: Without citations. Its first word is not taken for a name.
        evidence: All text that it may rest on, titles and headings included.

    Example:
        >>> from discorag.verification.guards import missing_detail
        >>> missing_detail("It rose by 21 %.", "It rose by 12 percent.")
        'The number 21 % is not in the evidence.'
    """
    for kind, details in (
        ("number", _missing_figures(sentence, evidence)),
        ("date", _missing_months(sentence, evidence)),
        ("name", _missing_names(sentence, evidence)),
    ):
        if details:
            return f"The {kind} {details[0]} is not in the evidence."
    said = _flat(evidence)
    quoted = [q for q in _QUOTED.findall(sentence) if _flat(q).strip(" .,!?") not in said]
    return f'The words "{quoted[0]}" are not in the evidence.' if quoted else ""


def _flat(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())


def _missing_figures(sentence: str, evidence: str) -> list[str]:
    """The figures that the evidence states in no unit, and that are neither rough nor computed from two of its own."""
    if language_of(sentence) != "en":
        return sorted(_digits(sentence) - _digits(evidence))
    theirs, said = quantities(evidence), " ".join(words(sentence))
    return [q.text for q in quantities(sentence) if not (_is_stated(q, theirs) or _is_rough(q, said))]


def _digits(text: str) -> set[str]:
    return {m.replace(",", "").rstrip(".") for m in _DIGITS.findall(text)}


def _is_stated(figure: Quantity, theirs: tuple[Quantity, ...]) -> bool:
    return any(figure.same(other) for other in theirs) or _is_computed(figure, theirs)


def _is_computed(figure: Quantity, theirs: tuple[Quantity, ...]) -> bool:
    """Whether a figure is the sum or the difference of two of its unit, or of two years: "fourteen years"."""
    if figure.year:
        return False
    own = [q for q in theirs if q.unit == figure.unit or (q.year and figure.dimension == "time")]
    pairs = ((a, b) for i, a in enumerate(own) for b in own[:i] if a.unit == b.unit)
    return any(figure.raw in (abs(a.raw - b.raw), a.raw + b.raw) for a, b in pairs)


def _is_rough(figure: Quantity, said: str) -> bool:
    """Whether the sentence gives a bound or an idiom: "over 40", "one in two", "an hour and a half"."""
    in_words = not any(map(str.isdigit, figure.text))
    idiom = in_words and figure.raw <= (1 if figure.dimension else _FEW)
    return idiom or figure.text == "a half" or bool(_ROUGHLY.search(said[: said.find(figure.text)].rstrip()))


def _missing_months(sentence: str, evidence: str) -> list[str]:
    there = {w[:3] for w in _WORD.findall(evidence.casefold())}
    numeric = {int(a or b) for a, b in _NUMERIC_DATE.findall(evidence)}
    found = [(m[0], _MONTHS.index(m[0].casefold())) for m in _names(sentence) if m[0].casefold() in _MONTHS]
    return [month for month, i in found if _MONTHS[i][:3] not in there and i + 1 not in numeric]


def _missing_names(sentence: str, evidence: str) -> list[str]:
    """The capitalised words of a sentence that the evidence has in no form; none of a German one."""
    if _GERMAN.intersection(_WORD.findall(sentence)):
        return []
    names = [m[0] for m in _names(sentence)]
    if 2 * len(names) > len(sentence.split()):
        return []  # a title
    there = set(_WORD.findall(_possessive(evidence).casefold()))
    return [name for name in names if name.casefold() not in _MONTHS and not _is_named(name, there, evidence)]


def _names(sentence: str) -> list[re.Match[str]]:
    return [m for m in _NAME.finditer(sentence) if not _AFTER_STOP.search(sentence[: m.start()])]


def _is_named(name: str, there: set[str], evidence: str) -> bool:
    parts = _WORD.findall(_possessive(name).casefold())
    return all(p in _NO_NAMES or any(_same_name(p, w) for w in there) for p in parts) or _is_short_for(name, evidence)


def _possessive(text: str) -> str:
    return re.sub(r"['’]s?\b", " ", text)


def _same_name(a: str, b: str) -> bool:
    """Whether two words name the same: equal, one longer by an ending, or one of a country and its adjective."""
    if a == b or min(len(a), len(b)) < _LEAST_STEM:
        return a == b
    of_a_place = a.endswith(_OF_A_PLACE) or b.endswith(_OF_A_PLACE)
    return a.startswith(b) or b.startswith(a) or (of_a_place and a[:_LEAST_STEM] == b[:_LEAST_STEM])


def _is_short_for(name: str, evidence: str) -> bool:
    """Whether an abbreviation may be of words of the evidence, "WHO", or of one, "UV" for "ultraviolet"."""
    if not (name.isupper() and len(name) > 1):
        return False
    letters = [re.escape(letter) for letter in name]
    initials, inside = r"\w*\W+(?:(?:of|and|the|for)\W+)*".join(letters), r"\w*".join(letters)
    return bool(re.search(rf"\b(?:{initials}|{inside})", evidence, re.IGNORECASE))
