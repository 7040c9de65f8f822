"""Whether the words of a sentence stand by the same numbers, dates and names as in its evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from discorag.claims import lexicon as lx
from discorag.claims.quantities import Quantity, quantities
from discorag.claims.words import Word, clauses, content, words

_CROSSING = 6  # words that a break between an anchor and a value weighs
_MARGIN = 3  # by how much the nearest value must be nearer than the next
_DESCRIBING = lx.DETERMINERS | {"who", "which", "whose", "once", "then", "now", "formerly"}
_NEAR = 17  # weighted distance within which a value owns a word


@dataclass(frozen=True)
class Value:
    """Something that can change places with another of its kind; equal labels are the same value.

    Example:
        >>> from discorag.verification.checks.bindings import numeric
        >>> [value.label for value in numeric("12 % of 300 children fell ill.")]
        ['12', '300']
    """

    label: str
    start: int
    end: int
    kind: str = ""


@lru_cache(maxsize=4096)
def numeric(sentence: str) -> tuple[Value, ...]:
    """Numbers and dates."""
    tokens = words(sentence)
    found = [
        Value(f"{q.raw:g}", q.start, q.end, "date" if _is_year(q) else q.dimension)
        for q in quantities(sentence)
        if q.raw != 1 or q.dimension in ("order", "every")
    ]
    inside = {i for v in found for i in range(v.start, v.end)}
    days = {i: f for i, t in enumerate(tokens) for f in lx.DAYS | lx.MONTHS if t.of(frozenset({f})) and i not in inside}
    return (*found, *(Value(label, i, i + 1, "date") for i, label in days.items()))


def _is_year(q: Quantity) -> bool:
    return not q.dimension and not q.noun and 1000 <= q.raw <= 2100 and q.text.isdigit()


def names(sentence: str) -> tuple[Value, ...]:
    """Runs of capitalised words, labelled by their last; a single word that opens the sentence is not taken for one."""
    tokens, found, i = words(sentence), list[Value](), 0
    while i < len(tokens):
        j = i
        while j < len(tokens) and tokens[j].title and tokens[j].content and not tokens[j].of(lx.DAYS | lx.MONTHS):
            j += 1
        if j > i and (i > 0 or j > 1 or tokens[0].possessive):
            found.append(Value(tokens[j - 1].stem, i, j))
        i = max(j, i + 1)
    return tuple(found)


def named(sentence: str, sources: Sequence[str]) -> Callable[[str], tuple[Value, ...]]:
    """A reader of names that also knows a sentence's first word for one if it is one elsewhere."""
    known = {v.label for text in (sentence, *sources) for v in names(text)}

    def read(text: str) -> tuple[Value, ...]:
        found = names(text)
        first = next(iter(words(text)), None)
        fresh = first is not None and first.title and first.stem in known and not any(v.start == 0 for v in found)
        return (Value(first.stem, 0, 1), *found) if first is not None and fresh else found

    return read


def swapped(sentence: str, sources: Sequence[str], values: Callable[[str], tuple[Value, ...]]) -> bool:
    """Whether words that stand by one value in the sources stand by another of its kind in the sentence."""
    return any(_swapped(sentence, sources, values, kind) for kind in {v.kind for v in values(sentence)})


def _swapped(sentence: str, sources: Sequence[str], values: Callable[[str], tuple[Value, ...]], kind: str) -> bool:
    mine, *theirs = ([v for v in values(t) if v.kind == kind] for t in (sentence, *sources))
    shared = {v.label for v in mine} & {v.label for found in theirs for v in found}
    if len(shared) < 2:
        return False
    owned: dict[str, set[str]] = defaultdict(set)
    for source, found in zip(sources, theirs, strict=True):
        for stem, owners in _owners(source, found).items():
            owned[stem] |= owners
    said = _owners(sentence, mine)
    votes = [bool(said[s] & owned[s]) for s in said if said[s] | owned[s] <= shared and len(owned[s]) == 1]
    needed = votes.count(True) if kind else max(1, 3 * votes.count(True))  # names move more freely than numbers
    return votes.count(False) > needed


def _owners(sentence: str, found: Sequence[Value]) -> dict[str, set[str]]:
    """Stem of each content word -> the values it stands by."""
    tokens = words(sentence)
    aside = _asides(tokens)
    found = [v for v in found if v.start not in aside] or found
    taken = {i for v in found for i in range(v.start, v.end)} | aside
    owners: dict[str, set[str]] = defaultdict(set)
    for i, word in enumerate(tokens):
        of_it = any(v.start == i + 2 for v in found) and tokens[i + 1].lower == "of"  # "a pupil of Brandt"
        owner = _owner(tokens, i, found, aside) if word.content and i not in taken and not of_it else None
        if owner is not None:
            owners[word.stem].add(owner)
    return owners


def _owner(tokens: tuple[Word, ...], i: int, found: Sequence[Value], aside: set[int]) -> str | None:
    """The value nearest to the word at ``i``; None if none is near, or another nearly as near."""
    costs = sorted((_cost(tokens, i, v, aside), v.label) for v in found)
    if not costs or costs[0][0] > _NEAR:
        return None
    rivals = [c for c, label in costs if label != costs[0][1]]
    return costs[0][1] if not rivals or rivals[0] - costs[0][0] >= _MARGIN else None


def _cost(tokens: tuple[Word, ...], i: int, value: Value, aside: set[int]) -> int:
    first, last = min(i, value.start), max(i + 1, value.end)
    outer = [tokens[j] for j in range(first, last) if j not in aside]
    low, high = (value.end, i) if i >= value.end else (i + 1, value.start)
    between = [tokens[j] for j in range(low, high) if j not in aside]
    breaks = sum(t.mark or t.lower in ("and", "or", "but") for t in between) + len({t.clause for t in outer}) - 1
    return len(between) + _CROSSING * breaks


def _asides(tokens: tuple[Word, ...]) -> set[int]:
    """Indices of what stands between two commas and only describes the name before ("Maes, a pupil of Brandt,")."""
    commas = [i for i, t in enumerate(tokens) if t.text == ","]
    found: set[int] = set()
    for a, b in pairwise(commas):
        describes = tokens[a - 1].title and tokens[a + 1].lower in _DESCRIBING if a and b > a + 1 else False
        found |= set(range(a, b + 1)) if describes else set()
    return found


def misdated(sentence: str, sources: Sequence[str]) -> str:
    """A date or number of the sentence that the sources give of something else; empty if there is none."""
    tokens, mine = words(sentence), numeric(sentence)
    for clause in clauses(tokens):
        inside = [v for v in mine if tokens[v.start].clause == clause[0].clause]
        if len(inside) == 1 and _belongs_elsewhere(inside[0], content(clause), sources):
            return " ".join(t.text for t in tokens[inside[0].start : inside[0].end])
    return ""


def _belongs_elsewhere(value: Value, said: frozenset[str], sources: Sequence[str]) -> bool:
    """Whether a source with another value of the kind shares more words than those with this one."""
    right, wrong = 0, 0
    for source in sources:
        labels = {v.label for v in numeric(source) if v.kind == value.kind}
        overlap = len(said & content(words(source)))
        if value.label in labels:
            right = max(right, overlap)
        elif labels:
            wrong = max(wrong, overlap)
    return 0 < right < wrong
