"""Finds the words that a model quotes in the text that it read.

A model changes characters that carry no meaning: white space, entities, typographic quotation marks and dashes, case,
emphasis, marks of sounds in transcripts. Both sides are folded, and every folded character knows the place that it
comes from. Words and numbers are never matched in part, and nothing is matched approximately.
"""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from discorag.schema.values import Span

_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_QUOTES = dict.fromkeys('"“”„‟«»「」『』″‹›', '"') | dict.fromkeys("'‘’‚‛′`´ʼ", "'")
_DASHES = dict.fromkeys("-‐‑‒–—―−﹘﹣－", "-")
_SAME = _QUOTES | _DASHES
_WRAP = re.compile("[\u2010\u00ad]\n[ \t]*")
"""A hyphen that only breaks a word at the end of a line."""
_NOISE = re.compile(
    r"[{(\[<](?:disfmarker|vocalsound|nonvocalsound|gap|pause|inaudible|crosstalk|applause|laugh(?:s|ter)?|coughs?)[})\]>]",
    re.IGNORECASE,
)
"""What a transcript says of sounds between the words."""
_SPEAKER = re.compile(r"^[^\S\n]*(?:[A-Z][\w.'’-]*[^\S\n]?){1,4}:(?=\s)", re.MULTILINE)
"""The name of a speaker before a turn."""
_EMPHASIS = "*_`"
_OMISSION = re.compile(r"\s*\n\s*|\s*[\[(（【]?\s*(?:…+|\.{3,}|(?:\. ){2}\.|⋯+)\s*[\])）】]?\s*")
_OUTER = " \t\n\"'“”‘’„«»「」『』"
_END = ".,;:!?。，；：！？…"
_LEAST_WORDS, _LEAST_CHARACTERS = 2, 4
"""A piece next to an ellipsis has so many words, or so many characters in a script without spaces."""


@dataclass(frozen=True)
class Folded:
    """Folded text, and for each of its characters the range of the characters that it comes from."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def origin(self, start: int, end: int) -> Span:
        """The original characters of ``text[start:end]``."""
        return Span(start=self.starts[start], end=self.ends[end - 1])


@lru_cache(maxsize=512)
def fold(text: str, *, is_talk: bool = False) -> Folded:
    """The text without differences that carry no meaning; of a talk, without the names of speakers before turns."""
    folded: list[tuple[str, int, int]] = []
    is_spaced = False
    for piece, start, end in _pieces(text, is_talk=is_talk):
        if piece.isspace():
            is_spaced = True
            continue
        for c in unicodedata.normalize("NFKD", piece).casefold():
            if c.isspace():
                is_spaced = True
                continue
            before = folded[-1][0] if folded else ""
            if is_spaced and before and not (is_unspaced(before) or is_unspaced(c)):
                folded.append((" ", folded[-1][2], start))
            is_spaced = False
            folded.append((_SAME.get(c, c), start, end))
    characters, starts, ends = zip(*folded, strict=True) if folded else ((), (), ())
    return Folded("".join(characters), starts, ends)


def _pieces(text: str, *, is_talk: bool) -> Iterator[tuple[str, int, int]]:
    """The characters of a text with their places: entities unescaped, emphasis and invisible ones left out."""
    at = 0
    while at < len(text):
        match = _ENTITY.match(text, at) or _WRAP.match(text, at) or _NOISE.match(text, at)
        match = match or (_SPEAKER.match(text, at) if is_talk else None)
        end = match.end() if match else at + 1
        piece = html.unescape(match[0]) if match and match[0][0] == "&" else "" if match else text[at]
        if piece and unicodedata.category(piece[0]) != "Cf" and not _is_emphasis(text, at):
            yield piece, at, end
        at = end


def _is_emphasis(text: str, at: int) -> bool:
    """Whether the character is a mark of emphasis: one that does not stand between letters or digits."""
    if text[at] not in _EMPHASIS:
        return False
    return not (text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum())


def is_unspaced(c: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return "\u2e80" <= c <= "\u9fff" or "\uf900" <= c <= "\ufaff" or "\uff00" <= c <= "\uffef" or c >= "\U00020000"


def locate(quotation: str, text: str) -> tuple[Span, ...]:
    """Where ``text`` has the quoted words: one span, or several in order for a quotation with ellipses.

    A quotation may leave out the names of speakers, and words at its line breaks. The result is empty if the text does
    not have the words. Spans are offsets in ``text``.
    """
    words = quotation.strip(_OUTER)
    sources = [fold(text), *([fold(text, is_talk=True)] if _SPEAKER.search(text) else [])]
    for source in sources:
        if whole := _first(source, 0, quotation, words, words.rstrip(_END + _OUTER)):
            return (source.origin(*whole),)
    pieces = [piece for piece in _OMISSION.split(words) if piece.strip(_OUTER + _END)]
    if not pieces or (len(pieces) > 1 and not all(map(_is_long_enough, pieces))):
        return ()
    return next((spans for source in sources if (spans := _in_order(pieces, source))), ())


def _in_order(pieces: list[str], source: Folded) -> tuple[Span, ...]:
    spans, at = list[Span](), 0
    for piece in pieces:
        found = _first(source, at, piece, piece.strip(_OUTER), piece.strip(_OUTER + _END))
        if found is None:
            return ()
        spans.append(source.origin(*found))
        at = found[1]
    return tuple(spans)


def _first(source: Folded, at: int, *forms: str) -> tuple[int, int] | None:
    """The place of the first of these forms that the text has, so that no mark is cut off which it has."""
    return next((found for words in forms if (found := _find(words, source, at))), None)


def _is_long_enough(piece: str) -> bool:
    unspaced = sum(map(is_unspaced, piece))
    return unspaced >= _LEAST_CHARACTERS or len(piece.split()) >= _LEAST_WORDS


def _find(words: str, source: Folded, at: int) -> tuple[int, int] | None:
    """The first place from ``at`` on that has the words, not in the middle of a word or number."""
    folded = fold(words).text
    if not any(c.isalnum() for c in folded):
        return None
    while (start := source.text.find(folded, at)) >= 0:
        end = start + len(folded)
        if not _splits(source.text, start) and not _splits(source.text, end):
            return start, end
        at = start + 1
    return None


def _splits(text: str, at: int) -> bool:
    """Whether a word or number goes on across this place."""
    before, after = text[at - 1 : at] if at else "", text[at : at + 1]
    if re.match(r"[.,]\d", text[at : at + 2]) and before.isdigit():
        return True
    if at >= 2 and re.fullmatch(r"\d[.,]", text[at - 2 : at]) and after.isdigit():
        return True
    joined = before.isalnum() or unicodedata.combining(before or " ")
    goes_on = after.isalnum() or unicodedata.combining(after or " ")
    return bool(joined and goes_on) and not (is_unspaced(before) or is_unspaced(after or "a"))
