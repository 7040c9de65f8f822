"""Whether the participants of a sentence play the same parts as in its evidence: who does what to whom, from and to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discorag.claims import lexicon as lx
from discorag.claims.words import Word, clauses, content, forms, is_verb, words

_CLASH = (
    {"from", "to"}, {"from", "into"}, {"with", "without"}, {"above", "below"}, {"over", "under"}, {"for", "against"},
)  # fmt: skip

_OTHERS = {"object", "to", "from", "against"}
_UNITS = frozenset(lx.UNITS)
_Link = tuple[Word, Word, str]  # two neighbouring words and what stands between them


@dataclass(frozen=True)
class Role:
    """What a noun is in its clause: "subject", "object", "agent" ("by" behind a passive) or its preposition.

    Example:
        >>> from discorag.claims.words import words
        >>> from discorag.verification.checks.roles import roles
        >>> [(role.stem, role.part) for role in roles(words("The moon pulls the sea."))]
        [('moon', 'subject'), ('sea', 'object')]
    """

    stem: str
    part: str
    verb: str
    clause: tuple[int, int]
    passive: bool


def exchanged(sentence: str, sources: Sequence[str]) -> str:
    """Which words have changed parts between the sentence and its sources; empty if none."""
    mine, theirs = roles(words(sentence)), [r for n, s in enumerate(sources) for r in roles(words(s), n)]
    by_stem: dict[str, list[Role]] = {}
    for role in theirs:
        by_stem.setdefault(role.stem, []).append(role)
    for role in mine:
        there = by_stem.get(role.stem, [])
        if there and all({role.part, r.part} in _CLASH for r in there):
            return f'The evidence has "{there[0].part}" where the sentence has "{role.part}".'
        if there and role.part == "agent" and all(_acted_on(r) for r in there):
            return "The one who acts in the sentence does not act in the evidence."
    return "It exchanges who acts and who is acted on." if _turned(mine, theirs) else ""


def _acted_on(role: Role) -> bool:
    if role.part == "from":
        return forms(role.verb).isdisjoint(lx.TRANSFER)
    return role.part in ("object", "to", "at", "against", "into") or (role.part == "subject" and role.passive)


def _turned(mine: list[Role], theirs: list[Role]) -> bool:
    """Whether two nouns are actor and object of one clause here, and the other way round there."""
    here, there = _pairs(mine), _pairs(theirs)
    return any((b, a, part) in there and (a, b, part) not in there for a, b, part in here)


def _pairs(found: list[Role]) -> set[tuple[str, str, str]]:
    """Who acts, on or to whom, and the part of the latter."""
    actors = [r for r in found if (r.part == "subject" and not r.passive) or r.part == "agent"]
    others = [
        (r, "object" if r.part == "subject" else r.part)
        for r in found
        if r.part in _OTHERS or (r.part == "subject" and r.passive)
    ]
    return {(a.stem, o.stem, part) for a in actors for o, part in others if a.clause == o.clause and a.stem != o.stem}


def roles(tokens: tuple[Word, ...], sentence: int = 0) -> list[Role]:
    """The roles of the content words of a sentence, numbered among others."""
    bare = ([t for t in clause if not t.mark] for clause in clauses(tokens))
    return [role for n, clause in enumerate(bare) for role in _of_clause(clause, (sentence, n))]


def _of_clause(clause: list[Word], place: tuple[int, int]) -> list[Role]:
    verb = _verb(clause)
    at = len(clause) if verb is None else verb
    passive, name = (False, "") if verb is None else (_passive(clause, verb), clause[verb].lower)
    return [
        Role(word.stem, _part(clause, i, verb, passive=passive), name, place, passive)
        for i, word in enumerate(clause)
        if word.content and i != at
    ]


def _part(clause: list[Word], i: int, verb: int | None, *, passive: bool) -> str:
    preposition = _governor(clause, i, len(clause) if verb is None else verb)
    if verb is None:
        return preposition
    if i > verb and preposition == "by" and passive:
        return "agent"
    if i > verb and preposition == "to" and clause[verb].of(lx.LEADING):
        return "object"
    return preposition or ("subject" if i < verb else "object")


def _verb(clause: list[Word]) -> int | None:
    """The place of the main verb: behind the auxiliaries of the first finite verb."""
    first = next((i for i in range(len(clause)) if is_verb(clause, i)), None)
    if first is None:
        return next((i for i in range(1, len(clause) - 1) if _third_person(clause, i)), None)
    while first + 1 < len(clause) and (clause[first].lower in lx.AUXILIARIES or clause[first].lower in lx.ADVERBS):
        if not (clause[first + 1].content or clause[first + 1].lower in lx.AUXILIARIES | lx.ADVERBS):
            break
        first += 1
    return first


def _third_person(clause: list[Word], i: int) -> bool:
    """Whether "s" is the ending of a verb: behind a singular noun ("the vaccine protects calves")."""
    word, before = clause[i], clause[i - 1]
    ends = word.lower.endswith("s") and not word.lower.endswith(("ss", "us", "is")) and word.content
    return ends and before.content and not before.lower.endswith("s")


def _passive(clause: list[Word], verb: int) -> bool:
    before = {t.lower for t in clause[max(0, verb - 3) : verb]}
    return bool(before & (lx.BE | {"get", "got", "gets"})) and not clause[verb].lower.endswith("ing")


def _governor(clause: list[Word], i: int, verb: int) -> str:
    """The preposition of the noun phrase around the word at ``i``; empty if it has none."""
    j = i - 1
    while j >= 0:
        word = clause[j].lower
        if word in lx.DETERMINERS or clause[j].possessive:
            before = clause[j - 1].lower if j else ""
            if not (clause[j].possessive or before in lx.PREPOSITIONS | {"and", "or"} | lx.DETERMINERS):
                return "inner" if i < verb and before.endswith("ing") else ""
        elif word == "to" and i > j + 1 and not clause[j + 1].title:
            return "" if clause[j + 1].content else word
        elif word in lx.PREPOSITIONS - {"than", "of"}:
            return word
        elif word in lx.AUXILIARIES or is_verb(clause, j):
            return ""
        j -= 1
    return ""


def replaced(sentence: str, sources: Sequence[str]) -> str:
    """A word of the evidence that stands where the evidence has another; empty if there is none."""
    mine, there = words(sentence), [words(s) for s in sources]
    if any(w.lower in lx.NEGATORS for w in mine) or any(w.lower in ("one", "ones") for t in there for w in t):
        return ""
    known = content([w for t in there for w in t])
    for link in _links(mine):
        a, b, _ = link
        if {a.stem, b.stem} <= known and not a.of(_UNITS) and not _together(a.stem, b.stem, there):
            pairs = (_substitute(link, x, content(mine)) for t in there for x in _links(t))
            if found := next((p for p in pairs if p is not None), None):
                return f'The evidence has "{found[1]}" where the sentence has "{found[0]}".'
    return ""


def _substitute(mine: _Link, theirs: _Link, said: frozenset[str]) -> tuple[str, str] | None:
    """The word of the sentence and that of the evidence, if one end of both links is the same word."""
    (a, b, link), (c, d, other) = mine, theirs
    if link != other:
        return None
    if c.stem == a.stem and d.stem not in said and link not in ("", "and"):
        return b.text, d.text
    same = link == "" and forms(b.lower) & forms(d.lower)
    return (a.text, c.text) if same and c.stem not in said else None


def _together(a: str, b: str, there: list[tuple[Word, ...]]) -> bool:
    """Whether one clause of the sources has both."""
    return any({a, b} <= content(c) for tokens in there for c in clauses(tokens))


def _links(tokens: tuple[Word, ...]) -> list[_Link]:
    """Neighbouring content words of one clause with the preposition between them, "" if there is none."""
    found: list[_Link] = []
    last, link = None, ""
    for word in tokens:
        if word.mark or word.lower in lx.CONJUNCTIONS - {"as"} or word.number:
            last = None
        elif word.content:
            if last is not None and last.clause == word.clause:
                found.append((last, word, link))
            last, link = word, ""
        elif word.lower not in lx.FUNCTION:  # "go", "make": a verb, though one of little content
            last = None
        elif word.lower in lx.PREPOSITIONS | lx.DETERMINERS:
            link = link if word.lower in ("a", "an", "the") and link else f"{link} {word.lower}".strip()
    return found
