"""What a language model wrote, without what belongs to our prompts; and how much of it is copied.

A model that cannot read the marks of a tree may copy them, with whole passages. A mark, a fence or an escape that no
source has itself is ours, and no user sees it: it goes where the words beside it are a source's; where they are not,
nobody knows what was meant, and the text is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from discorag.discourse.parse.inline import unescape
from discorag.generation.compression import GAP
from discorag.schema.rst_relations import BY_CODE
from discorag.schema.words import words_of
from discorag.text.citations import split_at_references, without_references

RUN = 50
"""Words in a row that may be a passage's: the longest of the 725 sentences of `examples/` has 48."""

_CODES = "|".join(BY_CODE)
_MARK = re.compile(rf"\|\s*\d{{1,5}}\s*[<>=]\s*(?:{_CODES})\s*\|")
_BROKEN_MARK = re.compile(rf"\|\s*\d{{1,5}}\s*[<>=]|[<>=]\s*(?:{_CODES})\s*\|")
_FENCE = re.compile(r"</?(?:chunk|question|instruction)\b[^<>\n]*>|^```.*$", re.MULTILINE)
_ENTITY = re.compile(r"&(?:amp|lt|gt|#124);")
_BEGINS = re.compile(r"[|<&`][^\n]{0,40}\Z")  # of what is ours the longest is a fence, with its source
_NEAR = 200  # characters on each side of a mark that are looked at
_BESIDE = 12  # of these, those that are looked up together


def tidied(text: str, passages: Sequence[str]) -> str:
    """``text`` without marks, fences, gaps and escapes that are none of the passages' own.

    Marks beside words that no passage has stay: see `marks_left`.
    """
    held = "\n".join(passages)
    text = _ENTITY.sub(lambda m: m[0] if m[0] in held else unescape(m[0]), text)
    text = _FENCE.sub(lambda m: m[0] if m[0] in held else "", text)
    text = _without_marks(text, " ".join(held.split()))
    if GAP not in held:
        text = text.replace(GAP, "…")
    return re.sub(r"\n{3,}", "\n\n", text).strip()


class Shown:
    """The pieces of a stream without marks, fences and escapes; what may become one is held back until it is clear.

    Example:
        >>> from discorag.generation.prompted.prose import Shown
        >>> shown = Shown()
        >>> shown.push("Tides |1<el"), shown.push("ab|rise."), shown.rest()
        ('Tides ', 'rise.', '')
    """

    def __init__(self) -> None:
        self._held = ""

    def push(self, piece: str) -> str:
        """What can be shown once ``piece`` has come."""
        text = _FENCE.sub("", _MARK.sub("", self._held + piece))
        begins = _BEGINS.search(text)
        at = begins.start() if begins else len(text)
        self._held = text[at:]
        return unescape(text[:at])

    def rest(self) -> str:
        """What was held back, at the end."""
        return unescape(self._held)


def marks_left(text: str, passages: Sequence[str]) -> bool:
    """Whether ``text`` still has marks of ours, whole or broken."""
    return any(not any(m[0] in p for p in passages) for m in _BROKEN_MARK.finditer(text))


def copied(text: str, passages: Sequence[str]) -> int:
    """Words in the longest run that ``text`` has from one of the passages without a citation in it."""
    pieces = [_folded(piece) for piece in split_at_references(text)]
    sources = [_folded(passage) for passage in passages]
    return max((_common(piece, source) for source in sources for piece in pieces), default=0)


def _folded(text: str) -> list[str]:
    return [word.casefold() for word in words_of(text)]


def _common(a: list[str], b: list[str]) -> int:
    return SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size


def _without_marks(text: str, held: str) -> str:
    """``text`` without the marks that stand beside words of a source."""
    kept, at = "", 0
    for m in _MARK.finditer(text):
        kept += text[at : m.start()]
        at = m.end()
        if m[0] in held or not _found(text[max(0, m.start() - _NEAR) : m.start()], text[at : at + _NEAR], held):
            kept += m[0]
        elif kept[-1:] in " \t\n":
            at += len(text[at:]) - len(text[at:].lstrip(" \t"))
    return kept + text[at:]


def _found(before: str, after: str, held: str) -> bool:
    """Whether a source has the words on both sides of a mark in a row, or twice as many on one side."""
    left, right = _plain(before).rpartition(GAP)[2], _plain(after).partition(GAP)[0]
    spans = (left[-_BESIDE:] + right[:_BESIDE], left[-2 * _BESIDE :], right[: 2 * _BESIDE])
    return any(span.strip() and " ".join(span.split()) in held for span in spans)


def _plain(text: str) -> str:
    return without_references(_MARK.sub("", text), chunks=10_000)
