"""Words of English text for the support checks: tokens, stems and clauses, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from discorag.claims import lexicon as lx

_TOKEN = re.compile(r"[^\W\d_]+\d\w*|\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")
_UNITS = frozenset(lx.UNITS)
_BREAKS = frozenset(",;:.!?—–()")
_PARTICLES = frozenset(particle for _, particle in lx.PARTICLE_VERBS)
_DERIVED = (
    ("uction", "uce"), ("ception", "ceive"), ("ision", "ide"), ("usion", "ude"), ("ission", "it"),
    ("fully", ""), ("ically", ""), ("ations", ""), ("ation", ""), ("ition", ""), ("ution", ""), ("ement", ""),
    ("ingly", ""), ("ility", ""), ("iness", ""), ("ment", ""), ("ness", ""), ("ance", ""), ("ence", ""), ("ancy", ""),
    ("ency", ""), ("able", ""), ("ible", ""), ("ally", ""), ("ical", ""), ("ious", ""), ("tion", "t"), ("sion", "s"),
    ("ity", ""), ("ive", ""), ("ous", ""), ("ful", ""), ("ian", ""), ("ish", ""), ("iot", ""), ("ese", ""),
    ("ist", ""), ("ent", ""), ("ant", ""), ("est", ""), ("ly", ""), ("er", ""), ("or", ""), ("al", ""), ("an", ""),
    ("ic", ""), ("th", ""), ("us", ""), ("y", ""), ("e", ""), ("i", ""), ("a", ""),
)  # fmt: skip


@dataclass(frozen=True)
class Word:
    """One token.

    Args:
        text: As written; a possessive ending is cut off.
        lower: The same in lower case.
        stem: What forms and derivations of one word share ("erupted", "eruption"): at most six letters.
        possessive: Whether it had "'s" or "'".
        clause: Number of its clause in the sentence.

    Example:
        >>> from discorag.claims.words import words
        >>> [(word.text, word.content) for word in words("Tides rise twice.")]
        [('Tides', True), ('rise', True), ('twice', False), ('.', False)]
    """

    text: str
    lower: str
    stem: str
    possessive: bool = False
    clause: int = 0

    def of(self, kind: frozenset[str]) -> bool:
        """Whether the word or a base form of it is in a class of words."""
        return not forms(self.lower).isdisjoint(kind)

    @cached_property
    def content(self) -> bool:
        """Whether it is a word of an open class: no number, no punctuation mark, no function word."""
        return _is_content(self.lower)

    @property
    def number(self) -> bool:
        """Whether it is a digit string or a number word."""
        return _is_number(self.lower)

    @property
    def title(self) -> bool:
        """Whether it has a capital that is not the pronoun "I"."""
        return self.text[0].isupper() and self.text != "I"

    @cached_property
    def mark(self) -> bool:
        """Whether it is a punctuation mark or symbol."""
        return not self.lower[0].isalnum()


@lru_cache(maxsize=16384)
def _is_content(lower: str) -> bool:
    return lower[0].isalpha() and forms(lower).isdisjoint(lx.LIGHT) and not _is_number(lower)


def _is_number(lower: str) -> bool:
    named = lower in lx.CARDINALS or lower in lx.SCALES or lower in lx.ORDINALS or lower in lx.MULTIPLES
    return named or lower[0].isdecimal()


@lru_cache(maxsize=4096)
def words(sentence: str) -> tuple[Word, ...]:
    """The tokens of one sentence, with their clauses numbered."""
    raw: list[Word] = []
    for match in _TOKEN.finditer(sentence):
        raw += _word(match[0].replace("’", "'"))
    return _clauses(_with_particles(raw))


def _with_particles(raw: list[Word]) -> list[Word]:
    """The tokens, verbs with their particle ("turned down") joined and read as the plain verb (reject)."""
    out: list[Word] = []
    for word in raw:
        verbs = forms(out[-1].lower) if out and word.lower in _PARTICLES else ()
        plain = next((lx.PARTICLE_VERBS[v, word.lower] for v in verbs if (v, word.lower) in lx.PARTICLE_VERBS), None)
        if plain is None:
            out.append(word)
        else:
            out[-1] = Word(f"{out[-1].text} {word.text}", plain, stem(plain))
    return out


def _word(token: str) -> list[Word]:
    lower = token.lower()
    if lower == "cannot":
        return [_plain("can"), _plain("not")]
    if lower.endswith("n't"):
        return [_plain(token[:-3] or "ca"), _plain("not")]
    if "'" in token and token[0].isalpha():
        head, _, tail = token.partition("'")
        return [_plain(head, possessive=tail.lower() == "s")]
    return [_plain(token)]


@lru_cache(maxsize=16384)
def _plain(token: str, *, possessive: bool = False) -> Word:
    lower = token.lower()
    return Word(token, lower, stem(lower), possessive)


def _clauses(raw: list[Word]) -> tuple[Word, ...]:
    number, out = 0, list[Word]()
    for i, word in enumerate(raw):
        number += bool(out) and not out[-1].mark and _opens(raw, i)
        out.append(Word(word.text, word.lower, word.stem, word.possessive, number) if number else word)
        number += word.text in _BREAKS
    return tuple(out)


def _opens(raw: list[Word], i: int) -> bool:
    """Whether the word at ``i`` opens a clause."""
    word = raw[i].lower
    if word in lx.SUBORDINATORS or (word == "that" and raw[i - 1].content):
        return True
    return word in ("and", "or") and _opens_a_clause(raw, i)


def _opens_a_clause(raw: list[Word], i: int) -> bool:
    """Whether what follows the conjunction at ``i`` up to the next break has a verb of its own."""
    for j in range(i + 1, min(i + 7, len(raw))):
        if raw[j].mark or raw[j].lower in lx.SUBORDINATORS:
            return False
        if is_verb(raw, j):
            return True
    return False


def is_verb(tokens: Sequence[Word], i: int) -> bool:
    """Whether the token at ``i`` looks like a finite verb, or like the participle of one."""
    word, before, after = tokens[i], lower(tokens, i - 1), lower(tokens, i + 1)
    if word.lower in lx.AUXILIARIES or word.lower in lx.IRREGULAR_PAST:
        return True
    if not word.content or word.of(_UNITS) or before in lx.DETERMINERS | lx.PREPOSITIONS - {"to"}:
        return False
    if before in lx.BEFORE_A_BASE_FORM or (len(word.lower) > 4 and word.lower.endswith("ed")):
        return True
    return after in lx.ARTICLES and i > 0 and not _in_a_phrase(tokens, i)


def _in_a_phrase(tokens: Sequence[Word], i: int) -> bool:
    """Whether the words before ``i`` are a preposition and content words ("in thick fog")."""
    j = i - 1
    while j >= 0 and tokens[j].content:
        j -= 1
    return j >= 0 and tokens[j].lower in lx.PREPOSITIONS


@lru_cache(maxsize=16384)
def forms(word: str) -> frozenset[str]:
    """``word`` in lower case and every base form that it may be an inflection of ("hoped": hope, hop)."""
    found = {word, lx.irregular().get(word, word)}
    if word.endswith(("ies", "ied")) and len(word) > 4:
        found.add(word[:-3] + "y")
    elif word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        found |= {word[:-1]} | ({word[:-2]} if word.endswith("es") else set[str]())
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 1 and re.search("[aeiouy]", root):
            found |= {root, root + "e"} | ({root[:-1]} if root[-1] == root[-2] else set[str]())
    return frozenset(found)


def _root(word: str) -> str:
    """``word`` without inflection and without a silent e."""
    if word in lx.irregular():
        word = lx.irregular()[word]
    elif word.endswith(("ies", "ied")) and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        word = word[:-2] if word.endswith(("sses", "shes", "ches", "xes")) else word[:-1]
    for ending in ("ed", "ing"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 1 and re.search("[aeiouy]", root) and not root.endswith("e"):
            return root[:-1] if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz" else root
    return word.removesuffix("e") if len(word) > 3 and not word.endswith("ee") else word


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """What forms and derivations of a word have in common; at most six letters."""
    word = _root(word)
    if word.endswith("ee"):  # "employee" is not "employer"
        return word
    for _ in range(2):
        for ending, new in _DERIVED:
            if word.endswith(ending) and len(word) - len(ending) + len(new) >= 4:
                word = word[: -len(ending)] + new if ending else word
                break
    if len(word) > 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:6]


def content(tokens: Sequence[Word]) -> frozenset[str]:
    """Stems of the content words."""
    return frozenset(w.stem for w in tokens if w.content)


def clauses(tokens: Sequence[Word]) -> list[list[Word]]:
    """The tokens of a sentence by clause."""
    found: dict[int, list[Word]] = {}
    for word in tokens:
        found.setdefault(word.clause, []).append(word)
    return list(found.values())


@lru_cache(maxsize=256)
def stems(kind: frozenset[str]) -> frozenset[str]:
    """Stems of a class of words."""
    return frozenset(stem(w) for w in kind)


def lower(tokens: Sequence[Word], i: int) -> str:
    """The token at ``i`` in lower case; empty outside the sentence."""
    return tokens[i].lower if 0 <= i < len(tokens) else ""


def first_of(tokens: Sequence[Word], start: int, marks: str, conjunctions: frozenset[str] = frozenset()) -> int:
    """Index of the first mark or conjunction from ``start`` on; the length if there is none."""
    ends = (j for j in range(start, len(tokens)) if tokens[j].text in marks or tokens[j].lower in conjunctions)
    return next(ends, len(tokens))


def after_last(tokens: Sequence[Word], stop: int, marks: str, conjunctions: frozenset[str] = frozenset()) -> int:
    """Index behind the last mark or conjunction before ``stop``; 0 if there is none."""
    starts = (j + 1 for j in range(stop - 1, -1, -1) if tokens[j].text in marks or tokens[j].lower in conjunctions)
    return next(starts, 0)


def repeats(said: Sequence[Word], part: Sequence[Word], share: float) -> bool:
    """Whether a sentence has at least ``share`` of the content words of a part of another, which has some."""
    wanted = content(part)
    return bool(wanted) and len(wanted & content(said)) >= share * len(wanted)
