"""Names of a sentence: capitalised words, which a source must have in some form of them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from discorag.conflicts.values import MONTHS
from discorag.text.folding import fold
from discorag.text.terms import terms

_DASH = "[-‐‑‒–—]"
_NAME = re.compile(rf"(?<![\w.:/`-])[^\W\d_a-z][\w’']*(?:{_DASH}\w+)*")
_WORD = re.compile(r"[^\W_]+")
_JOINED = re.compile(rf"[^\W_]+(?:{_DASH}[^\W_]+)+")
_DOTTED = re.compile(r"\b(?:[A-Z][._]){2,}|\b(?:[A-Z][._])+[A-Z]\b")
"""An abbreviation such as "U.S.", in transcripts also "L_C_D_"."""
_OPENING = re.compile(r"(?:^|[!?:])[\W_]*$|[a-z]{3,}\.[\W_]*$")
"""The text before the first word of a sentence, which is in one line."""
_OPENINGS = re.compile(r"(?:^|[.!?:;\n\"“”(\[|•])[\W_]*$")
"""Text that may stand before the first word of a sentence of a document."""
_GERMAN = frozenset(("und", "ist", "mit", "ein", "eine", "nicht", "wird", "das", "im", "auf", "für"))
_NO_NAMES = frozenset(("i", "mr", "mrs", "ms", "miss", "dr", "prof", "professor", "phd", "hon", "rev", "sir", "mx"))
_LEAST_STEM = 4
"""Letters that "Norway" and "Norwegian" share."""
_ENDINGS = ("s", "es", "n", "an", "ans", "ian", "ians", "ean", "i", "is", "ese", "ish", "ic", "al")
_OF_A_PLACE = ("an", "ans", "ish", "ese", "ic")
_PLACES = {
    "danish": "denmark", "dutch": "netherlands", "finnish": "finland", "french": "france", "greek": "greece",
    "irish": "ireland", "polish": "poland", "spanish": "spain", "swiss": "switzerland", "welsh": "wales",
}  # fmt: skip
"""Adjectives that do not begin like their country."""
_RUN = re.compile(r"[A-Z]\w+(?:(?:[ -]| of | and | for | the )+[A-Z]\w+)+")
"""A name of several words."""


@dataclass(frozen=True)
class Words:
    """The words of a text, as names are looked up in it.

    Args:
        all: All words in lower case, without accents; also words that dashes join, without the dashes.
        common: Those that it writes in lower case.
        capitals: Those that it capitalises within a sentence.
        plain: The text without accents, possessives and the points of abbreviations.
    """

    all: frozenset[str]
    common: frozenset[str]
    capitals: frozenset[str]
    plain: str


@lru_cache(maxsize=1024)
def read_words(text: str) -> Words:
    """The words of a text."""
    plain = _plain(text)
    words = _WORD.findall(plain)
    return Words(
        all=frozenset(map(str.casefold, (*words, *map(_without_dashes, _JOINED.findall(plain))))),
        common=frozenset(w for w in words if w.islower()),
        capitals=frozenset(m[0].casefold() for m in _names(plain, _OPENINGS) if terms(m[0])),
        plain=plain,
    )


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFD", fold(text))
    text = "".join(c for c in text if not unicodedata.combining(c))
    return re.sub(r"['’]s?\b", " ", _DOTTED.sub(lambda m: re.sub("[._]", "", m[0]), text))


def _without_dashes(name: str) -> str:
    return re.sub(_DASH, "", name)


def _as_ascii(text: str) -> dict[str, str]:
    """The words of a text that have accents, as keys without them: what is left if a conversion drops their letters.

    >>> _as_ascii("Mélanie Joly")
    {'melanie': 'mlanie'}
    """
    words = _WORD.findall(fold(text).casefold())
    return {_plain(w): w.encode("ascii", "ignore").decode() for w in words if not w.isascii()}


def _names(text: str, opening: re.Pattern[str]) -> Iterator[re.Match[str]]:
    return (m for m in _NAME.finditer(text) if not opening.search(text[max(0, m.start() - 20) : m.start()]))


def missing_names(sentence: str, sources: Sequence[Words], passages: Sequence[Words]) -> list[str]:
    """The names of a sentence that the sources have in no form; none for a German sentence.

    The first word counts as a name if some of ``passages``, all that were read, have it as one, and none as a word. A
    name of several words needs only one of them in a source if a passage has it whole ("Edgar County").
    """
    plain = _plain(sentence)
    if _GERMAN.intersection(_WORD.findall(plain)):
        return []
    within = {m.start() for m in _names(plain, _OPENING)}
    there = frozenset[str]().union(*(source.all for source in sources))
    there |= {word for word, left in _as_ascii(sentence).items() if left in there}
    spelt = [m.span() for m in _RUN.finditer(plain) if _has_initials(m[0], sources) or _is_known(m[0], there, passages)]
    return [
        m[0]
        for m in _NAME.finditer(plain)
        if (m.start() in within or _is_name(m[0], passages))
        and m[0].capitalize() not in MONTHS
        and not (_is_named(m[0], there) or any(start <= m.start() < end for start, end in spelt))
        and not any(_is_short_for(m[0], s.plain) or _is_initial(m, s.plain) for s in sources)
    ]


def _is_name(word: str, passages: Sequence[Words]) -> bool:
    word = word.casefold()
    return any(word in p.capitals for p in passages) and not any(word in p.common for p in passages)


def _is_named(name: str, there: frozenset[str]) -> bool:
    """Whether the words have every part of a name, or all as one; lower-case parts are not names ("Detroit-based")."""
    if _without_dashes(name).casefold() in there:
        return True
    parts = [p.casefold() for p in _WORD.findall(name) if not p.islower()]
    return all(p in _NO_NAMES or p in there or any(_is_same(p, w) for w in there) for p in parts)


def _is_same(a: str, b: str) -> bool:
    """Whether two words name the same: they differ by an ending, or are a country and its adjective."""
    if _PLACES.get(a) == b or _PLACES.get(b) == a:
        return True
    short, long = sorted((a, b), key=len)
    if len(short) < _LEAST_STEM:
        return False
    if long.startswith(short):
        return long[len(short) :] in _ENDINGS
    of_a_place = a.endswith(_OF_A_PLACE) or b.endswith(_OF_A_PLACE)
    return of_a_place and a[:_LEAST_STEM] == b[:_LEAST_STEM]


def _is_known(name: str, there: frozenset[str], passages: Sequence[Words]) -> bool:
    """Whether a source has a part of a name of several words, and a passage has the whole name."""
    parts = {word for word in _WORD.findall(name) if word[0].isupper()}
    return any(p.casefold() in there for p in parts) and any(name in passage.plain for passage in passages)


def _has_initials(name: str, sources: Sequence[Words]) -> bool:
    """Whether a source has the abbreviation of a name of several words."""
    words = [word for word in _WORD.findall(name.removeprefix("The ")) if word[0].isupper()]
    initials = "".join(word[0] for word in words)
    return len(words) > 1 and any(re.search(rf"\b{initials}s?\b", source.plain) for source in sources)


def _is_initial(found: re.Match[str], text: str) -> bool:
    """Whether a letter may stand for a word that a text has before the same word: "L. Ritter", "Lockwood Ritter"."""
    after = re.match(r"\.?\s+([A-Z]\w*)", found.string[found.end() :])
    if len(found[0]) > 1 or not after:
        return False
    after = after[1] + (r"\w*" if len(after[1]) == 1 else r"\b")
    return bool(re.search(rf"\b{found[0]}\w*\W+{after}", text))


def _is_short_for(name: str, text: str) -> bool:
    """Whether an abbreviation may stand for words of a text ("WHO") or for one word ("UV", "ultraviolet")."""
    if not (name.isupper() and name.isalpha() and len(name) > 1):
        return False
    initials = r"\w*\W+(?:(?:of|and|the|for)\W+)*".join(name)
    inside = rf"|{name[0]}\w+{name[1]}" if len(name) == 2 else ""
    return bool(re.search(rf"\b(?:{initials}{inside})", text, re.IGNORECASE))
