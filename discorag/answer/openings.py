"""How sentences of an answer may begin: what points at something untold brings that along, or is left out."""

from __future__ import annotations

import re
from itertools import islice, pairwise

from discorag.claims.units import Unit, UnitTable
from discorag.rst.markers import opening, without_connective
from discorag.types.hierarchy import UnitKind
from discorag.types.rst_relations import Relation

_REACH = 2  # sentences that one may bring along, each for the next
_OPENING = 3  # words of a sentence at which its opening is looked for
_DEMONSTRATIVES = frozenset({"this", "these", "those", "such"})
_POINTERS = _DEMONSTRATIVES | frozenset(
    {"he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "hers", "theirs", "that"}
    | {"both", "neither", "and", "but", "or", "nor", "so", "then", "thus", "hence", "yet", "also", "another"}
)
_POINTERS_ZH = ("他", "她", "它", "这", "那", "该", "其", "此", "但", "所以", "因此", "于是", "并", "而")
_JOINS = re.compile(r"^(?:(?:and|but)\b(?! for\b)[\s,]+)+(?=\w)", re.IGNORECASE)
_JOINS_SPEECH = re.compile(r"^(?:(?:and|but|so)\b(?! (?:for|that)\b)[\s,]+)+(?=\w)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_WORD = re.compile(r"[a-z]+(?=[\s,])")
_ANNOUNCES = (":", "：")


def with_context(table: UnitTable, order: list[int]) -> list[int]:
    """The units in order, each right after what it needs: the sentence that it points back to, or that introduces it.

    One that points at what cannot be told is left out, unless nothing else is there.
    """
    told: list[int] = []
    for i in order:
        needed = _needed(table, i)
        if needed is not None and i not in told:
            for before, j in pairwise([None, *needed, i]):
                _tell(told, j, before)
    return told or order


def _tell(told: list[int], j: int | None, before: int | None) -> None:
    """Put ``j`` behind ``before`` and what already stands there and comes earlier in the text, else at the end."""
    if j is None or j in told:
        return
    at = len(told) if before is None else told.index(before) + 1
    while before is not None and at < len(told) and before < told[at] < j:
        at += 1
    told.insert(at, j)


def _needed(table: UnitTable, i: int) -> list[int] | None:
    """Indices of what must be told right before unit ``i``; None if something untold would be missing."""
    unit = table.units[i]
    lead = table.units[unit.lead] if unit.lead is not None else None
    if lead and unit.lead is not None and (unit.kind is UnitKind.CODE or lead.text.endswith(_ANNOUNCES)):
        return [*(_needed(table, unit.lead) or []), unit.lead] if lead.kind is not UnitKind.HEADER else []
    before: list[int] = []
    while len(before) < _REACH and (points_back(table.units[i]) or _shows_back(table.units[i])):
        i -= 1
        if i < 0 or table.units[i].chunk != unit.chunk or not table.units[i].statement:
            i += 1
            break
        before.insert(0, i)
    return None if points_back(table.units[i]) else before


def follows(table: UnitTable, before: int, i: int) -> bool:
    """Whether unit ``i`` stands right behind ``before``, which was told, or is introduced by it."""
    unit = table.units[i]
    return table.units[before].chunk == unit.chunk and (before == i - 1 or unit.lead == before)


def points_back(unit: Unit) -> bool:
    """Whether it opens with a pronoun or a conjunction that refers to what stands before it."""
    return bool(_POINTERS.intersection(_opening(unit)[:1])) or (
        _may_point(unit) and alone(unit).startswith(_POINTERS_ZH)
    )


def _shows_back(unit: Unit) -> bool:
    """Whether a demonstrative among its first words may refer to what stands before it ("In this case")."""
    return bool(_DEMONSTRATIVES.intersection(_opening(unit)))


def _opening(unit: Unit) -> list[str]:
    return [m[0].casefold() for m in islice(_WORD.finditer(alone(unit)), _OPENING)] if _may_point(unit) else []


def _may_point(unit: Unit) -> bool:
    return unit.kind is UnitKind.TURN or (unit.kind in {UnitKind.PROSE, UnitKind.ITEM} and not unit.prefix)


def alone(unit: Unit) -> str:
    """How it reads where nothing that it refers to stands before it: without a connective, "and" or "but"."""
    joins = _JOINS_SPEECH if unit.kind is UnitKind.TURN else _JOINS
    text = without_connective(unit.body)
    bare = joins.sub("", text)
    return text if bare == text else bare[:1].upper() + bare[1:]


def may_follow(unit: Unit) -> bool:
    """Whether a connective of ours can stand before it: a whole sentence that has none of its own."""
    if unit.kind not in {UnitKind.PROSE, UnitKind.ITEM} or unit.prefix or not unit.statement:
        return False
    found = opening(unit.body)
    linked = found is not None and found.relation is not Relation.DEFINITION
    first = unit.body[:1]
    return first.isalnum() and not first.islower() and not linked and not points_back(unit)


def capitalised(text: str) -> str:
    """``text`` with a capital, if its first word is one of a language and not a name of a program."""
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text
