"""What differs between two sentences at odds, in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from discorag.conflicts.claims import cues
from discorag.conflicts.claims.quantities import Quantity, quantities
from discorag.schema.answer import Difference, Kind

_LEAD = re.compile(r"[\w.'’ -]{1,40}$")


def differences(a: str, b: str) -> tuple[Difference, ...]:
    """What one sentence says and the other says otherwise or not at all: figures, dates, polarity, limits, speakers."""
    return (*_figures(a, b), *_polarity(a, b), *_limits(a, b), *_speakers(a, b))


def _figures(a: str, b: str) -> Iterator[Difference]:
    """Quantities of one kind, none of them in the other sentence."""
    mine, theirs = quantities(a), quantities(b)
    only = _unmatched(mine, theirs), _unmatched(theirs, mine)
    for kind in dict.fromkeys(map(_kind, only[0])):
        one, other = (" / ".join(q.text for q in side if _kind(q) == kind) for side in only)
        if other:
            yield Difference(kind=Kind.DATE if kind == "year" else Kind.FIGURE, a=one, b=other)


def _unmatched(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> list[Quantity]:
    return [q for q in mine if not any(q.same(other) for other in theirs)]


def _kind(quantity: Quantity) -> str:
    return "year" if quantity.year else quantity.dimension


def _polarity(a: str, b: str) -> Iterator[Difference]:
    """A negation on one side only; else effects that move in opposite ways."""
    no, not_so = _words(cues.NEGATION, a), _words(cues.NEGATION, b)
    if bool(no) != bool(not_so):
        yield Difference(kind=Kind.POLARITY, a=no, b=not_so)
        return
    for up, down in ((cues.UPWARD, cues.DOWNWARD), (cues.DOWNWARD, cues.UPWARD)):
        one, other = _words(up, a), _words(down, b)
        if one and other and not _words(down, a) and not _words(up, b):
            yield Difference(kind=Kind.POLARITY, a=one, b=other)


def _limits(a: str, b: str) -> Iterator[Difference]:
    """What limits one of the two to a group, a dose, a time or a supposition, or says it of all."""
    mine, theirs = (_found(cues.QUALIFIER, text) | _found(cues.UNIVERSAL, text) for text in (a, b))
    if mine.keys() != theirs.keys():
        one, other = (", ".join(x[k] for k in x if k not in y) for x, y in ((mine, theirs), (theirs, mine)))
        yield Difference(kind=Kind.CONDITION, a=one, b=other)


def _speakers(a: str, b: str) -> Iterator[Difference]:
    one, other = _speaker(a), _speaker(b)
    if bool(one) != bool(other):
        yield Difference(kind=Kind.SPEAKER, a=one, b=other)


def _speaker(text: str) -> str:
    said = cues.ATTRIBUTION.search(text)
    if not said:
        return ""
    lead = _LEAD.search(text[: said.start()])
    return ((lead[0] if lead else "") + said[0]).strip()


def _words(pattern: re.Pattern[str], text: str) -> str:
    return ", ".join(_found(pattern, text).values())


def _found(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    """The words that match, as first written, by their lower case."""
    return {m[0].lower(): m[0] for m in reversed(list(pattern.finditer(text)))}
