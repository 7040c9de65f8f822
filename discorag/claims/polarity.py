"""Whether a sentence affirms what its evidence affirms: negations with their scope, and opposites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from discorag.claims import lexicon as lx
from discorag.claims.words import Word, clauses, content, forms, lower, stem, words

_SCOPE = 3  # content words behind a negation that it denies
_PRIVATIVE = ("un", "in", "im", "il", "ir", "dis", "non", "mis")
_FRAGMENT = 3  # content words below which a denied clause has lost its verb ("but not in rested mice")
_CONTEXT = 5  # words around an opposite in which both texts must share one
_DENIED = 0.5  # share of a denied clause that a sentence must repeat to be held against it


@dataclass(frozen=True)
class Negation:
    """One negation.

    Args:
        word: As written, in lower case.
        denied: The content words that it denies, nearest first.
        clause: Stems of the clause that it stands in.
        limited: Whether "until" or "before" follows.
        ended: Whether it is "no longer".

    Example:
        >>> from discorag.claims.polarity import negations
        >>> from discorag.claims.words import words
        >>> [(n.word, n.denied[0].text) for n in negations(words("Vitamin D did not lower the risk."))]
        [('not', 'lower')]
    """

    word: str
    denied: tuple[Word, ...]
    clause: frozenset[str]
    limited: bool
    ended: bool


def polarity(sentence: str, sources: Sequence[str]) -> str:
    """What the sentence denies and the sources affirm, or the other way round; empty if nothing."""
    said, there = words(sentence), [words(s) for s in sources]
    if opposed := _opposites(said, there):
        return f'It says "{opposed[0]}" where the evidence says "{opposed[1]}".'
    mine, theirs = negations(said), [n for t in there for n in negations(t)]
    if lost := _unmatched(theirs, mine, [said], there):
        return f'The evidence denies with "{lost.word}" what the sentence affirms.'
    if added := _unmatched(mine, theirs, there):
        return f'The sentence denies with "{added.word}" what the evidence affirms.'
    return ""


def negations(tokens: tuple[Word, ...]) -> list[Negation]:
    """The negations of a sentence; "not only", "no more than" and the like deny nothing."""
    return [_negation(tokens, i) for i in range(len(tokens)) if _denies(tokens, i)]


def _denies(tokens: Sequence[Word], i: int) -> bool:
    word, before, after = tokens[i], lower(tokens, i - 1), lower(tokens, i + 1)
    if word.lower in lx.NEGATORS:
        bound = after in lx.NOT_BOUNDS or (after == "longer" and lower(tokens, i + 2) == "than")
        return not bound and before not in lx.NOT_BEFORE.get(word.lower, ())
    if word.lower == "from":  # "kept them from leaving"
        return after.endswith("ing") and any(t.of(lx.HOLDING_BACK) for t in tokens[max(0, i - 4) : i])
    return word.of(lx.IMPLICIT_NEGATION) and before not in lx.DETERMINERS


def _negation(tokens: tuple[Word, ...], i: int) -> Negation:
    word, after = tokens[i].lower, lower(tokens, i + 1)
    clause = [t for j, t in enumerate(tokens) if t.clause == tokens[i].clause and t.content and j != i]
    behind = [t for t in tokens[i + 1 :] if t.content and t.clause in _reach(tokens, i)]
    of_all = word in lx.QUANTIFIED_NEGATION or after == "one"
    anaphoric = word == "none" and after != "of"  # "none has ever crossed it"
    return Negation(
        word=word,
        denied=tuple(clause if of_all else behind[:_SCOPE]),
        clause=content(tokens if anaphoric else clause),
        limited=any(t.lower in ("until", "till", "before") for t in tokens[i:]),
        ended=after == "longer",
    )


def _reach(tokens: tuple[Word, ...], i: int) -> set[int]:
    """Numbers of the clause at ``i`` and of the "that" clauses that hang on it."""
    reach = {tokens[i].clause}
    for word, after in pairwise(tokens[i:]):
        if after.clause == word.clause + 1 and after.lower == "that" and word.clause in reach:
            reach.add(after.clause)
    return reach


def _unmatched(
    mine: list[Negation],
    others: list[Negation],
    texts: Sequence[tuple[Word, ...]],
    own: Sequence[tuple[Word, ...]] = (),
) -> Negation | None:
    """The first of ``mine``, made in ``own``, that denies what ``texts``, whose negations are ``others``, do not."""
    said = [content(c) for t in texts for c in clauses(t)]
    spoken = frozenset[str]().union(*said)
    for n in mine:
        heads = _heads(n, own)
        matched = stem(n.word) in spoken or any(
            m == n or heads & m.clause or _heads(m, texts) & n.clause for m in others
        )
        if matched or _otherwise(n, texts) or (not own and _of_another(n, texts)):
            continue
        repeated = not others and any(len(n.clause & stems) > _DENIED * len(n.clause) for stems in said)
        affirmed = repeated or any(heads & stems for stems in said)
        if affirmed and (not own or len(n.clause) < _FRAGMENT or _closest(n, texts, own)):
            return n
    return None


def _of_another(n: Negation, texts: Sequence[tuple[Word, ...]]) -> bool:
    """Whether what is affirmed of one thing is denied of another, which stands in another sentence."""
    denied = {w.stem for w in n.denied}
    subject = n.clause - denied
    affirming = [content(t) for t in texts if content(t) & denied]
    elsewhere = [content(t) for t in texts if not content(t) & denied]
    return bool(subject and denied) and not any(subject & t for t in affirming) and any(subject & t for t in elsewhere)


def _heads(n: Negation, own: Sequence[tuple[Word, ...]]) -> frozenset[str]:
    """The denied stems that the other clauses do not have."""
    stems = [w.stem for w in n.denied]
    elsewhere = {w.stem for t in own for c in clauses(t) if content(c) != n.clause for w in c}
    return frozenset(s for s in stems if s not in elsewhere) or frozenset(stems)


def _closest(n: Negation, texts: Sequence[tuple[Word, ...]], own: Sequence[tuple[Word, ...]]) -> bool:
    """Whether a clause of ``texts`` has no more in common with another clause than with the denied one."""
    rivals = [content(c) for t in own for c in clauses(t)]
    for clause in (content(c) for t in texts for c in clauses(t)):
        shared = len(clause & n.clause)
        if shared and all(len(clause & r) <= shared for r in rivals):
            return True
    return False


def _otherwise(n: Negation, texts: Sequence[tuple[Word, ...]]) -> bool:
    """Whether a clause that shares words with the denied one denies without a negation, or affirms the opposite."""
    if n.limited and any(w.lower in lx.LIMITS for t in texts for w in t):
        return True
    excuses = lx.AFFIRMED_OTHERWISE - (lx.LASTING if n.ended else frozenset[str]())
    for text in texts:
        near = {w.clause for w in text if w.stem in n.clause}
        clause = [w for w in text if w.clause in near]
        own = {w.stem for w in clause}
        fresh = [w for w in clause if w.stem not in n.clause and not w.mark]
        excused = any(w.of(excuses) or _privative(w.lower) for w in fresh)
        if excused or _compares(clause) or any(opposite(w, d) for w in fresh for d in n.denied if d.stem not in own):
            return True
    return False


def _compares(clause: list[Word]) -> bool:
    """Whether it says "as much as", and not "as well as"."""
    after = [b.lower for a, b in pairwise(clause) if a.lower == "as"]
    return len(after) > 1 and "well" not in after


def _privative(word: str) -> bool:
    return word.startswith("un") and len(word) > 6 and not word.startswith(("under", "unit", "uni", "unless", "until"))


def _opposites(said: tuple[Word, ...], there: list[tuple[Word, ...]]) -> tuple[str, str] | None:
    """A word of the sentence and its opposite in the sources that stand by the same words, neither denied."""
    theirs = {w.stem for t in there for w in t}
    for i, word in enumerate(said):
        if not word.mark and word.stem not in theirs and lower(said, i - 1) != "or":
            agreeing = max(
                (_shared(said, i, t, j) for t in there for j in range(len(t)) if agrees(word, t[j])), default=0
            )
            for tokens in there:
                best, place = _opposite_in(said, i, tokens)
                if best > agreeing and not any(agrees(word, other) for other in tokens):
                    return word.text, tokens[place].text
    return None


def _opposite_in(said: tuple[Word, ...], i: int, tokens: tuple[Word, ...]) -> tuple[int, int]:
    """Words shared around the opposite of the word at ``i``, and its place; (0, 0) if none, or one is denied."""
    places = [j for j in range(len(tokens)) if _opposed(said, i, tokens, j)]
    if any(_denied(said, i) != _denied(tokens, j) for j in places):
        return 0, 0
    return max(((_shared(said, i, tokens, j), j) for j in places), key=lambda found: found[0], default=(0, 0))


def _shared(said: tuple[Word, ...], i: int, tokens: tuple[Word, ...], j: int) -> int:
    return len(_near(said, i) & _near(tokens, j))


def _opposed(said: tuple[Word, ...], i: int, tokens: tuple[Word, ...], j: int) -> bool:
    """Whether two words are opposites, and no other word of the sentence answers to the second."""
    word, other = said[i], tokens[j]
    if other.mark or not (opposite(word, other) or _as_much(tokens, j, word)):
        return False
    return not any(w.stem == other.stem or (w is not word and agrees(w, other)) for w in said)


def _as_much(tokens: tuple[Word, ...], j: int, word: Word) -> bool:
    equal = tokens[j].lower in ("much", "many") and lower(tokens, j - 1) == "as"
    return equal and word.lower in ("less", "fewer", "more")


def agrees(a: Word, b: Word) -> bool:
    """Whether two words stand on the same side of a pair of opposites, and on different sides of none."""
    return not _sides(a.lower).isdisjoint(_sides(b.lower)) and not opposite(a, b)


def opposite(a: Word, b: Word) -> bool:
    """Whether two words deny each other: by the list of opposites, or by a prefix ("lawful", "unlawful")."""
    if any((n, not side) in _sides(b.lower) for n, side in _sides(a.lower)):
        return True
    short, long = sorted((a.lower, b.lower), key=len)
    return len(short) > 3 and len(long) - len(short) in (2, 3) and long in {p + short for p in _PRIVATIVE}


@lru_cache(maxsize=16384)
def _sides(word: str) -> frozenset[tuple[int, bool]]:
    return frozenset(place for form in forms(word) for place in lx.opposites().get(form, ()))


def _near(tokens: tuple[Word, ...], i: int) -> frozenset[str]:
    return content([t for t in tokens[max(0, i - _CONTEXT) : i + _CONTEXT + 1] if t is not tokens[i]])


def _denied(tokens: tuple[Word, ...], i: int) -> bool:
    return any(_denies(tokens, j) for j in range(max(0, i - 4), i) if tokens[j].clause == tokens[i].clause)
