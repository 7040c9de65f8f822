"""Whether the numbers, days, months and names of a sentence are in its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from discorag.claims import lexicon as lx
from discorag.claims.quantities import Quantity, quantities
from discorag.claims.words import Word, content, forms, words

_CLOSE = 0.01  # difference that two ways of stating a share may have


def missing_number(sentence: str, sources: Sequence[str]) -> str:
    """What is wrong with the sentence's numbers; empty if each of them is in the sources."""
    there = [q for s in sources for q in quantities(s)]
    for q in quantities(sentence):
        same = [e for e in there if q.same(e)]
        if not same and not _implied(q, there, sources):
            return f"The number {q.text} is not in the evidence."
        if same and all(q.bound * e.bound < 0 for e in same) and _denies(sentence) == any(map(_denies, sources)):
            return f"The evidence has {q.text} as a limit in the other direction."
        if same and _counts_something_else(q, same, there):
            return f"In the evidence, {q.text} counts something else."
    return _whole_for_part(sentence, sources) or _other_unit(sentence, sources)


def _other_unit(sentence: str, sources: Sequence[str]) -> str:
    """Units without a number that have changed ("for decades", "for centuries")."""
    mine, theirs = _bare_units(sentence), {k: v for s in sources for k, v in _bare_units(s).items()}
    there = {f for s in sources for w in words(s) for f in forms(w.lower)}
    for unit, dimension in mine.items():
        rival = next((u for u, d in theirs.items() if d == dimension and u not in mine), None)
        if rival and unit not in there:
            return f'It says "{unit}" where the evidence says "{rival}".'
    return ""


def _bare_units(sentence: str) -> dict[str, str]:
    tokens = words(sentence)
    counted = {i for q in quantities(sentence) for i in range(q.start, q.end)}
    return {
        form: lx.UNITS[form][0]
        for i, t in enumerate(tokens)
        if i not in counted
        for form in forms(t.lower)
        if lx.UNITS.get(form, ("", 0))[0] in ("time", "length", "mass") and form not in ("second", "minute", "foot")
    }


def _whole_for_part(sentence: str, sources: Sequence[str]) -> str:
    """Whether the sentence says of all, or of another part, what the sources say of "two of the four"."""
    mine, said = quantities(sentence), content(words(sentence))
    for source in sources:
        tokens = words(source)
        for part, whole in pairwise(quantities(source)):
            between = [t.lower for t in tokens[part.end : whole.start]]
            if part.dimension or whole.dimension or between not in (["of"], ["of", "the"], ["of", "its"]):
                continue
            clause = content([t for t in tokens if t.clause == tokens[part.start].clause])
            share = part.value / whole.value if whole.value else 0.0
            kept = any(q.same(part) or abs(q.value - share) < _CLOSE for q in mine)
            if not kept and len(clause & said) >= max(2, len(clause) / 2) and any(q.same(whole) for q in mine):
                return f"The evidence says it of {part.text} of {whole.text}."
    return ""


def _denies(sentence: str) -> bool:
    return any(w.lower in lx.NEGATORS for w in words(sentence))


def _implied(q: Quantity, there: list[Quantity], sources: Sequence[str]) -> bool:
    """Whether the sources hold the number in another way: "a" for one, "both" for two, or as a ratio."""
    if q.raw == 1 and not q.text.isdigit() and q.dimension in ("", "order", "times"):
        return not any(e.noun == q.noun and e.noun and e.dimension == q.dimension for e in there)
    if q.dimension == "time" and q.text.lower().startswith("a"):
        return not any(e.dimension == "time" for e in there)
    if q.dimension in ("times", "share"):
        often = q.dimension == "times" and any(e.raw == q.raw for e in there)
        return often or any(abs(q.value - r) < _CLOSE or abs(q.value * r - 1) < _CLOSE for r in _ratios(there))
    return q.raw == 2 and not q.dimension and any(w.lower in lx.BOTH for s in sources for w in words(s))


def _ratios(there: list[Quantity]) -> set[float]:
    """The ratios that are stated, and those of two quantities of one kind."""
    found = {e.value for e in there if e.dimension in ("times", "share")}
    found |= {a.value / b.value for a in there for b in there if b.value and a.dimension == b.dimension}
    found |= {a.raw / b.raw for a in there for b in there if b.raw and "" in (a.dimension, b.dimension)}
    return found - {1.0}


def _counts_something_else(q: Quantity, same: list[Quantity], there: list[Quantity]) -> bool:
    """Whether the evidence gives another number of the same things, and this number of other things."""
    if q.dimension or not q.noun or any(e.noun in (q.noun, "") for e in same):
        return False
    return any(e.noun == q.noun and not q.same(e) and not e.dimension for e in there)


def missing_name(sentence: str, sources: Sequence[str]) -> str:
    """What is wrong with the sentence's names, days and months; empty if each of them is in the sources."""
    there = {w.stem for s in sources for w in words(s)}
    initials = {"".join(w.text[0] for w in words(s) if w.title).lower() for s in sources}
    tokens = words(sentence)
    for i, word in enumerate(tokens):
        known = word.stem in there or word.lower in lx.FUNCTION | lx.TITLES or any(word.lower in x for x in initials)
        if known or not word.title or (i == 0 and not _surely_a_name(tokens)) or word.number:
            continue
        if len(word.stem) > 3 and any(t.startswith(word.stem[:4]) for t in there):
            continue
        return f"The evidence does not mention {word.text}."
    return ""


def _surely_a_name(tokens: tuple[Word, ...]) -> bool:
    first, second = tokens[0], tokens[1] if len(tokens) > 1 else None
    known = first.lower in lx.DAYS | lx.MONTHS or (len(first.text) > 1 and first.text.isupper())
    return known or first.possessive or (second is not None and second.title)
