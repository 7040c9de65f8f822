"""Footnotes of pages and Word files, written as Markdown has them: ``[^1]`` in the text, ``[^1]: ...`` for the note."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_LABEL = re.compile(r"[\[(]?(\d{1,4}|[^\W\d_]|[ivxlc]{1,7}|[*†‡§¶]{1,3})[\])]?", re.IGNORECASE)
_NAMED = re.compile(r"note-?ref|footnote|endnote|\bfn\b", re.IGNORECASE)
_BACK = "[class*=backlink], [class*=backref], [class*=footnote-back], [role=doc-backlink]"
_ARROWS = "↩↑^⏎⤴\ufe0e "  # back to the text
_INLINE = ("a", "sup", "span", "b", "strong", "i", "em", "small")
_NOTE = ["li", "p", "aside", "div", "dd", "dt", "tr", "section"]
_NO_NOTE = ["table", "pre", "br", "ol", "ul", "h1", "h2", "h3", "h4", "h5", "h6", "img", "form"]
_MAX_NOTE = 3000


def write_references(soup: BeautifulSoup) -> list[tuple[Tag, str]]:
    """Write references to notes in the form of Markdown. Returns the notes that they lead to, each with its label.

    The notes lose their own labels and their links back; `write_notes` does the rest when their marks are written.
    """
    places = {str(tag[name]): tag for name in ("name", "id") for tag in soup.select(f"[{name}]")}
    labels: dict[int, str] = {}  # of the notes
    short: dict[int, bool] = {}
    notes: list[Tag] = []
    references: set[int] = set()
    for link in soup.select("a[href^='#']"):
        target = places.get(unquote(str(link["href"])[1:]))
        found = _LABEL.fullmatch(link.get_text().strip())
        if target is None or found is None or not _is_reference(link) or _leads_back(target, references):
            continue
        note = _note_at(target, short)
        if note is None or any(parent is note for parent in link.parents):
            continue
        if id(note) not in labels:
            notes.append(note)
        if labels.setdefault(id(note), found[1]) != found[1]:
            continue
        references |= {
            id(tag) for tag in (*takewhile(lambda tag: tag.name in _INLINE, link.parents), link, *link("sup"))
        }
        sup = link.find_parent("sup")
        place = sup if sup is not None and _LABEL.fullmatch(sup.get_text().strip()) else link
        place.string, place.name = f"[^{found[1]}]", "span"
    for note in notes:
        _strip_note(note, labels[id(note)], places, references)
    return [(note, labels[id(note)]) for note in notes]


def _is_reference(link: Tag) -> bool:
    """Whether a link is raised, or is called a reference to a note."""
    kinds = " ".join(str(link.get(name, "")) for name in ("role", "epub:type", "class"))
    return bool(link.find_parent("sup") or link.find("sup") or _NAMED.search(kinds))


def _leads_back(target: Tag, references: set[int]) -> bool:
    """Whether a link's target is a reference, so that it leads from a note back to the text."""
    return id(target) in references or any(id(tag) in references for tag in target.descendants)


def _note_at(target: Tag, short: dict[int, bool]) -> Tag | None:
    """The block that a reference leads to, if it is no longer than a note; ``short`` says so of those already seen."""
    is_table = target.name == "table" and bool(_NAMED.search(str(target.get("class", ""))))
    note = target if target.name in _NOTE or is_table else target.find_parent(_NOTE)
    if note is not None and note.name == "dt":
        note = note.find_next_sibling("dd")
    if note is None:
        return None
    if id(note) not in short:
        short[id(note)] = _is_short(note)
    if not short[id(note)]:
        return None
    before = target.find_previous(string=True) if target is not note else None
    opens = before is None or note not in before.parents or not before.strip(" [(\n")
    return note if opens else None


def _is_short(note: Tag) -> bool:
    return not note.find(_NO_NOTE) and len(note.get_text()) <= _MAX_NOTE


def _strip_note(note: Tag, label: str, places: dict[str, Tag], references: set[int]) -> None:
    """Take out the links from a note back to the text, and its label where that has an element of its own."""
    for back in [*note.select(_BACK), *note.select("a[href^='#']")]:
        if back.decomposed:
            continue
        target = places.get(unquote(str(back.get("href", ""))[1:]))
        if not back.get("href") or (target is not None and _leads_back(target, references)):
            back.decompose()
    first = next((text for text in note(string=True) if text.strip()), None)
    if first is not None and first.strip() == label and first.parent is not note:
        first.extract()


def write_notes(notes: Iterable[tuple[Tag, str]]) -> None:
    """Write notes in the form of Markdown, each as one line."""
    for note, label in notes:
        _write_note(note, label)


def _write_note(note: Tag, label: str) -> None:
    text = " ".join(note.get_text(" " if note.find([*_NOTE, "td"]) else "").split()).strip(_ARROWS)
    own = re.escape(label)  # as the note itself has it
    text = re.sub(rf"^(?:[\[(]{own}[\])][.:]?|{own}[.):](?=\s)|\[\s*\])", "", text).strip()
    if (term := note.find_previous_sibling("dt")) is not None and note.name == "dd":
        term.decompose()
    note.string, note.name = f"[^{label}]: {text}", "p"
