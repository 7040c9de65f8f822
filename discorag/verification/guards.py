"""Figures, dates, quotations and names of a sentence are looked up in its evidence, which must have each of them.

If one is missing, the evidence does not support the sentence. If all are there, nothing is proved.
"""

import re
from math import isclose

from discorag.conflicts.values import Value, ValueKind, find_values
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
_FEW = 12  # counts up to here are often expressed in another way: "one out of every two", "on both sides"


def missing_detail(sentence: str, evidence: str) -> str:
    """Which detail of a sentence the evidence lacks, in one plain sentence; empty if none.

    The sentence has no citations; its first word is not taken for a name. The evidence is all text that may support it,
    with titles and headings.
    """
    for kind, details in (
        ("number", _missing_figures(sentence, evidence)),
        ("date", _missing_dates(sentence, evidence)),
        ("name", _missing_names(sentence, evidence)),
    ):
        if details:
            return f"The {kind} {details[0]} is not in the evidence."
    stated = _flat(evidence)
    quoted = [q for q in _QUOTED.findall(sentence) if _flat(q).strip(" .,!?") not in stated]
    return f'The words "{quoted[0]}" are not in the evidence.' if quoted else ""


def _flat(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())


def _missing_figures(sentence: str, evidence: str) -> list[str]:
    """The figures that the evidence lacks, except approximate ones and those computed from two of its figures."""
    if language_of(sentence) != "en":
        return sorted(_digits(sentence) - _digits(evidence))
    theirs = _figures(evidence)
    unlike = [v for v in _figures(sentence) if not any(_is_same(v, other) for other in theirs)]
    return [v.text for v in unlike if not (_is_computed(v, theirs) or _is_rough(v, sentence))]


def _figures(text: str) -> list[Value]:
    """The amounts, counts, versions and years of a text."""
    return [v for v in find_values(text) if v.year or v.kind not in (ValueKind.DATE, ValueKind.LITERAL)]


def _digits(text: str) -> set[str]:
    return {m.replace(",", "").rstrip(".") for m in _DIGITS.findall(text)}


def _is_same(figure: Value, other: Value) -> bool:
    """Whether both may state the same amount; a count is compared as it is written, since its unit may be elsewhere."""
    if figure.is_comparable(other):
        return not figure.excludes(other)
    kinds = {figure.kind, other.kind}
    is_count = ValueKind.COUNT in kinds and ValueKind.VERSION not in kinds
    return is_count and (figure.number or figure.year) == (other.number or other.year)


def _is_computed(figure: Value, theirs: list[Value]) -> bool:
    """Whether a figure is the sum or difference of two figures of its unit, or of two years ("fourteen years")."""
    if figure.unit == "day":
        years = [v.year for v in theirs if v.year]
        if any(figure.number == abs(a - b) for i, a in enumerate(years) for b in years[:i]):
            return True
    own = [v.amount for v in theirs if v.number and v.is_comparable(figure)]
    pairs = ((a, b) for i, a in enumerate(own) for b in own[:i])
    return bool(figure.number) and any(isclose(figure.amount, x) for a, b in pairs for x in (abs(a - b), a + b))


def _is_rough(figure: Value, sentence: str) -> bool:
    """Whether the figure is a bound ("over 40") or part of an idiom ("one in two")."""
    in_words = not any(map(str.isdigit, figure.text))
    idiom = in_words and figure.number <= (1 if figure.unit else _FEW)
    return idiom or bool(_ROUGHLY.search(sentence[: figure.span.start].rstrip()))


def _missing_dates(sentence: str, evidence: str) -> list[str]:
    """The dates whose day, month or year the evidence lacks; a month alone is looked up as a word or a number."""
    theirs = [v.parts for v in find_values(evidence) if v.kind is ValueKind.DATE]
    dates = [v for v in find_values(sentence) if v.kind is ValueKind.DATE and not v.year]
    found = [d.text for d in dates if not any(_has_parts(t, d.parts) for t in theirs)]
    there = {w[:3] for w in _WORD.findall(evidence.casefold())}
    numeric = {int(a or b) for a, b in _NUMERIC_DATE.findall(evidence)}
    months = [(m[0], _MONTHS.index(m[0].casefold())) for m in _names(sentence) if m[0].casefold() in _MONTHS]
    return found + [month for month, i in months if _MONTHS[i][:3] not in there and i + 1 not in numeric]


def _has_parts(theirs: tuple[int, ...], parts: tuple[int, ...]) -> bool:
    """Whether a date has every part of another one; the year may be missing, since it may stand elsewhere."""
    return all(
        part in (0, own) or (i == 0 and not own) for i, (own, part) in enumerate(zip(theirs, parts, strict=True))
    )


def _missing_names(sentence: str, evidence: str) -> list[str]:
    """The capitalised words that the evidence has in no form; none for a German sentence."""
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
    """Whether two words name the same: they are equal, differ by an ending, or are a country and its adjective."""
    if a == b or min(len(a), len(b)) < _LEAST_STEM:
        return a == b
    of_a_place = a.endswith(_OF_A_PLACE) or b.endswith(_OF_A_PLACE)
    return a.startswith(b) or b.startswith(a) or (of_a_place and a[:_LEAST_STEM] == b[:_LEAST_STEM])


def _is_short_for(name: str, evidence: str) -> bool:
    """Whether an abbreviation may stand for words of the evidence ("WHO") or for one word ("UV", "ultraviolet")."""
    if not (name.isupper() and len(name) > 1):
        return False
    letters = [re.escape(letter) for letter in name]
    initials, inside = r"\w*\W+(?:(?:of|and|the|for)\W+)*".join(letters), r"\w*".join(letters)
    return bool(re.search(rf"\b(?:{initials}|{inside})", evidence, re.IGNORECASE))
