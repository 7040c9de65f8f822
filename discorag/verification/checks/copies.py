"""Whether a sentence that is nearly a copy of a source differs from it in a number or a negation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from discorag.claims import lexicon as lx
from discorag.claims.quantities import Quantity, quantities
from discorag.claims.words import Word, content, words

_COPIED = 0.75  # share of a sentence's tokens, in order, from which it counts as a copy
_SHORT = 4  # tokens of a change that is no clause added or left out

_Change = tuple[range, range]  # places of what differs: in the sentence, in the source


def altered(sentence: str, sources: Sequence[str]) -> str:
    """The number or negation in which a copied sentence differs from its source; empty if there is none."""
    for source in sources:
        for here, there in _changes(sentence, source):
            if number := _other_number(sentence, source, here, there):
                return f"It has {number[0]} where the evidence has {number[1]}."
            if _only_denies(words(sentence)[here.start : here.stop], words(source)[there.start : there.stop]):
                return "It denies what the evidence affirms, or the other way round."
    return ""


def _changes(sentence: str, source: str) -> Iterator[_Change]:
    """What differs, if the sentence is a copy for the most part."""
    mine, theirs = [t.lower for t in words(sentence)], [t.lower for t in words(source)]
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    if mine and sum(block.size for block in matcher.get_matching_blocks()) >= _COPIED * len(mine):
        for kind, a, b, c, d in matcher.get_opcodes():
            if kind != "equal":
                yield range(a, b), range(c, d)


def _only_denies(mine: Sequence[Word], theirs: Sequence[Word]) -> bool:
    """Whether two short passages differ in a negation and have the same content words otherwise."""
    short = len(mine) <= _SHORT and len(theirs) <= _SHORT
    return short and _negators(mine) != _negators(theirs) and content(mine) == content(theirs)


def _negators(tokens: Sequence[Word]) -> int:
    return sum(t.lower in lx.NEGATORS for t in tokens)


def _other_number(sentence: str, source: str, here: range, there: range) -> tuple[str, str] | None:
    """A number in the change of the sentence that is none of those in the change of the source."""
    mine, theirs = _numbers(sentence, here), _numbers(source, there)
    wrong = (q for q in mine if theirs and not any(q.same(e) for e in theirs))
    return next(((q.text, theirs[0].text) for q in wrong), None)


def _numbers(text: str, places: range) -> list[Quantity]:
    return [q for q in quantities(text) if not {*range(q.start, q.end)}.isdisjoint(places)]
