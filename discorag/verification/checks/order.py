"""Whether a sentence keeps the order of events in its evidence: before and after, since and until."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discorag.claims import lexicon as lx
from discorag.claims.words import Word, after_last, clauses, content, first_of, is_verb, lower, stems, words

_UNITS = frozenset(lx.UNITS)
_TIMELIKE = lx.DAYS | lx.MONTHS | lx.SEASONS | {u for u, (dimension, _) in lx.UNITS.items() if dimension == "time"}
_JOINING = frozenset({"but", "while", "and"})
_Order = tuple[frozenset[str], frozenset[str]]


def disordered(sentence: str, sources: Sequence[str]) -> str:
    """What is wrong with the order of events in the sentence; empty if it is that of the sources."""
    said, there = words(sentence), [words(s) for s in sources]
    orders = [o for t in there for o in sequence(t)] + _across(there)
    if any(_reversed(mine, theirs) for mine in sequence(said) if mine not in orders for theirs in orders):
        return "It reverses the order of events."
    return _moved(said, there)


def _across(there: list[tuple[Word, ...]]) -> list[_Order]:
    """Sentences of one clause with "later" or "then" come after the others."""
    found: list[_Order] = []
    for tokens in there:
        late = any(t.lower in lx.LATER and lower(tokens, i + 1) != "than" for i, t in enumerate(tokens))
        others, own = _stems(w for t in there if t is not tokens for w in t), _stems(tokens)
        if late and sum(bool(content(c)) for c in clauses(tokens)) == 1:
            found.append((others - own, own - others))
    return [o for o in found if all(o)]


def _stems(tokens: Iterable[Word]) -> frozenset[str]:
    """Stems of the content words, units left out."""
    return frozenset(t.stem for t in tokens if t.content and not t.of(_UNITS))


def _reversed(mine: _Order, theirs: _Order) -> bool:
    straight = len(mine[0] & theirs[0]) + len(mine[1] & theirs[1])
    crossed = len(mine[0] & theirs[1]) + len(mine[1] & theirs[0])
    both = bool(mine[0] & theirs[1]) and bool(mine[1] & theirs[0])
    return crossed > straight and (both or crossed > 1 + straight)


def sequence(tokens: tuple[Word, ...]) -> list[_Order]:
    """Pairs of stems of what is earlier and what is later, each without what both share."""
    found = [o for i in range(len(tokens)) if (o := _order_at(tokens, i)) is not None]
    return [(a - b, b - a) for a, b in found if a - b and b - a]


def _order_at(tokens: tuple[Word, ...], i: int) -> _Order | None:
    """The order that the word at ``i`` states."""
    word, pair = tokens[i].lower, f"{tokens[i].lower} {lower(tokens, i + 1)}"
    if word in lx.BEFORE or pair == "ahead of":
        left, right = _sides(tokens, i)
        return (right, left) if word != "prior" and _denied(tokens, i) else (left, right)
    if word in lx.AFTER or pair in ("later than", "as soon"):
        left, right = _sides(tokens, i)
        return right, left
    return _successive(tokens, i) if word in lx.LATER and i > 0 else None


def _denied(tokens: tuple[Word, ...], i: int) -> bool:
    """Whether a negation stands before the word at ``i``, in its clause or the one before ("not ... until")."""
    return any(t.lower in lx.NEGATORS for t in tokens[max(0, i - 12) : i] if t.clause >= tokens[i].clause - 1)


def _sides(tokens: tuple[Word, ...], i: int) -> _Order:
    """What stands before and behind the connective at ``i``; if it opens the sentence, its own clause is behind it."""
    marks = [j + 1 for j in range(i) if tokens[j].text in ",;:."]
    start = next((j for j in reversed(marks) if _stems(tokens[j:i])), 0)
    end = first_of(tokens, i + 1, ",;:.", _JOINING)
    if not _stems(tokens[start:i]):
        return _stems(tokens[end : first_of(tokens, end, ";:")]), _stems(tokens[i + 1 : end])
    last = max(start, after_last(tokens, i - 1, "", _JOINING))
    return _stems(tokens[last:i]) or _stems(tokens[start:i]), _stems(tokens[i + 1 : end])


def _successive(tokens: tuple[Word, ...], i: int) -> _Order:
    """What stands in the clauses before, and in the clause of the word at ``i``, in "X ... and Y later"."""
    start = after_last(tokens, i, ",;", frozenset({"and", "but"}))
    return _stems(tokens[after_last(tokens, start, ";.") : start]), _stems(tokens[start : first_of(tokens, i, ",;.")])


def _moved(said: tuple[Word, ...], there: list[tuple[Word, ...]]) -> str:
    """A time that the sentence puts on another side than the sources ("since 1978" for "until 1978")."""
    ends, sides = any(w.of(lx.ENDINGS) for t in there for w in t), _sides_of(there)
    for label, side in _times(said):
        time = _timelike(label)
        if side in ("until", "till") and time and not ends:
            return f"The evidence names no end at {label}."
        other = sides.get(label, set())
        if (time or side in lx.BOUNDS) and other and all(_clash(side, s, time=time) for s in other):
            return f'It says "{side}" a time where the evidence says "{min(other)}".'
    return ""


def _sides_of(there: list[tuple[Word, ...]]) -> dict[str, set[str]]:
    """For each time or event of the sources the prepositions that it stands behind."""
    found: dict[str, set[str]] = {}
    for tokens in there:
        opened = [(_label(w), c[0].lower) for c in clauses(tokens) if c[0].lower in lx.TIME_SIDE for w in c]
        for label, side in [*_times(tokens), *opened]:  # "until a filter was fitted in 2003"
            found.setdefault(label, set()).add(side)
    return found


def _timelike(label: str) -> bool:
    return label[0].isdigit() or label in stems(_TIMELIKE)


def _times(tokens: tuple[Word, ...]) -> list[tuple[str, str]]:
    """Heads of phrases behind a preposition of time, with the preposition; "not until" counts as "after"."""
    found: list[tuple[str, str]] = []
    for i, word in enumerate(tokens):
        head = _phrase(tokens, i + 1) if word.lower in lx.TIME_SIDE else None
        event = head is not None and not _timelike(head) and word.lower in lx.BOUNDS
        if head is not None and not (event and _opens_clause(tokens, i)):
            denied = any(t.lower in ("not", "never", "no") for t in tokens[max(0, i - 8) : i])
            found.append((head, "after" if denied and word.lower in ("until", "till", "before") else word.lower))
    return found


def _opens_clause(tokens: tuple[Word, ...], i: int) -> bool:
    """Whether a verb follows the phrase behind ``i``: "before Denmark banned it" is no time "before Denmark"."""
    for j in range(i + 1, min(i + 6, len(tokens))):
        if tokens[j].mark or tokens[j].lower in lx.PREPOSITIONS | lx.CONJUNCTIONS:
            return False
        if j > i + 1 and is_verb(tokens, j):
            return True
    return False


def _label(word: Word) -> str:
    return word.lower if word.number else word.stem


def _phrase(tokens: tuple[Word, ...], i: int) -> str | None:
    """The last word of the noun phrase that starts at ``i``."""
    head = None
    for word in tokens[i : i + 5]:
        if word.content or word.number or word.lower in lx.MONTHS:
            head = _label(word)
        elif word.lower not in lx.DETERMINERS:
            break
    return head


def _clash(a: str, b: str, *, time: bool) -> bool:
    """Whether two prepositions put an event on different sides of a time, or of another event."""
    sides = {lx.TIME_SIDE[a], lx.TIME_SIDE[b]}
    if len(sides) == 1 or sides == {"before", "until"} or (not time and {a, b} == {"after", "until"}):
        return False
    if "until" in sides or sides == {"before", "after"}:
        return True
    return "by" not in (a, b) and (sides != {"after", "at"} or "after" in (a, b))
