"""Whether two words or numbers of a sentence have changed places with each other, or one with a word of the evidence.

The place of a word is what stands near it: the other words, the nearer the heavier, and its preposition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations

from discorag.claims import lexicon as lx
from discorag.claims.polarity import opposite
from discorag.claims.quantities import quantities
from discorag.claims.words import Word, words

_EXCHANGED = 0.7  # by how much two words must fit each other's places better than their own
_MISPLACED = 0.6  # by how much one word must fit another's place better than its own
_CLEARLY = 0.5  # by how much each must, a name and another word
_ALONE = -0.2  # how much better one of them may fit its own
_BREAK = 5  # words that a break between two words weighs
_PREPOSITION = 0.5  # weight of the preposition


def exchanged_places(sentence: str, sources: Sequence[str]) -> tuple[str, str] | None:
    """Two words or two numbers that each stand where the sources have the other; None if there are none."""
    here = _places(sentence)
    there: dict[str, list[_Place]] = defaultdict(list)
    for source in sources:
        for label, places in _places(source).items():
            there[label] += places
    once = [k for k in here if len(here[k]) == len(there.get(k, ())) == 1]
    for a, b in combinations(once, 2):
        pair = here[a][0], here[b][0], there[a][0], there[b][0]
        if not _touch(*pair[:2]) and not _touch(*pair[2:]) and _crossed(*pair):
            return pair[0].word, pair[1].word
    return None


def misplaced(sentence: str, sources: Sequence[str]) -> tuple[str, str] | None:
    """A number, or a word with an opposite, that stands where the sources have another; with that other."""
    if any(w.lower in lx.NEGATORS for text in (sentence, *sources) for w in words(text)):
        return None
    here, there = _places(sentence), [p for s in sources for places in _places(s).values() for p in places]
    for label, (place, *_) in here.items():
        own = max((_alike(place, p, {label}) for p in there if p.text == label), default=None)
        rivals = [r for r in there if r.text not in here and _kin(place, r)] if own is not None else []
        for rival in rivals:
            if _alike(place, rival, {label}) - (own or 0.0) >= _MISPLACED:
                return place.word, rival.word
    return None


def _kin(a: _Place, b: _Place) -> bool:
    return a.kind == b.kind and (a.counted or (a.kind == "word" and opposite(a.first, b.first)))


@dataclass(frozen=True)
class _Place:
    """Where a word or number stands: how near to which others, and behind which preposition."""

    text: str
    word: str
    first: Word
    kind: str
    near: dict[str, float]

    @property
    def counted(self) -> bool:
        """Whether it is a number."""
        return self.kind.startswith("number")


def _touch(a: _Place, b: _Place) -> bool:
    return a.near.get(b.text, 0) == 1


def _crossed(a: _Place, b: _Place, a_there: _Place, b_there: _Place) -> bool:
    """Whether each stands rather where the other stands there; words of different kinds must do so clearly."""
    numbers = a.counted + b.counted
    without = {a.text, b.text}
    first = _alike(a, b_there, without) - _alike(a, a_there, without)
    second = _alike(b, a_there, without) - _alike(b, b_there, without)
    kin = numbers == 2 or a.kind == b.kind or "first" in (a.kind, b.kind)
    return numbers != 1 and first + second >= _EXCHANGED and min(first, second) >= (_ALONE if kin else _CLEARLY)


def _alike(a: _Place, b: _Place, without: set[str]) -> float:
    return sum(min(w, b.near[k]) for k, w in a.near.items() if k in b.near and k not in without)


@dataclass(frozen=True)
class _Item:
    label: str
    kind: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def _places(sentence: str) -> dict[str, list[_Place]]:
    tokens, found = words(sentence), defaultdict[str, list[_Place]](list)
    items, breaks = list(_items(sentence)), _breaks(tokens)
    for item in items:
        near = _surroundings(tokens, item)
        for other in items:
            if other.label != item.label:
                near[other.label] = max(near.get(other.label, 0), _closeness(tokens, breaks, item, other))
        word = " ".join(t.text for t in tokens[item.start : item.end])
        found[item.label].append(_Place(item.label, word, tokens[item.start], item.kind, near))
    return found


def _items(sentence: str) -> Iterator[_Item]:
    """The numbers and the other content words; a first word may be a name or not."""
    tokens, counted = words(sentence), set[int]()
    for q in quantities(sentence):
        if q.raw != 1 or q.dimension in ("order", "time"):
            counted |= set(range(q.start, q.end))
            yield _Item(f"{q.raw:g}", f"number {q.dimension}", q.start, q.end)
    for i, t in enumerate(tokens):
        if t.content and i not in counted:
            yield _Item(t.stem, "first" if i == 0 else "name" if t.title else "word", i, i + 1)


def _surroundings(tokens: tuple[Word, ...], item: _Item) -> dict[str, float]:
    """The preposition before, and the comparison behind a number ("800 more")."""
    near: dict[str, float] = {}
    number = item.kind.startswith("number")
    preposition = _preposition(tokens, item.start)
    if preposition and not (number and preposition in ("from", "to")):
        near[f"{preposition} "] = _PREPOSITION
    if number and item.end < len(tokens) and tokens[item.end].lower in lx.COMPARING:
        near[f" {tokens[item.end].lower}"] = _PREPOSITION
    return near


def _breaks(tokens: tuple[Word, ...]) -> list[int]:
    """For every token, and behind the last, how many marks and conjunctions stand before it."""
    return [0, *accumulate(t.mark or t.lower in ("and", "or", "but", "than") for t in tokens)]


def _closeness(tokens: tuple[Word, ...], breaks: list[int], a: _Item, b: _Item) -> float:
    """1 for neighbours, less with every word and break between."""
    low, high = (a.end, b.start) if b.start >= a.end else (b.end, a.start)
    between = breaks[max(low, high)] - breaks[low]
    between += abs(tokens[a.start].clause - tokens[b.start].clause)
    return 1 / (1 + (high - low + _BREAK * between) / 2)


def _preposition(tokens: tuple[Word, ...], i: int) -> str:
    j = i - 1
    while j >= 0 and tokens[j].lower in lx.DETERMINERS:
        j -= 1
    return tokens[j].lower if j >= 0 and tokens[j].lower in lx.PREPOSITIONS - {"of"} else ""
