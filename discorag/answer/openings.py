"""Which sentences an answer must have before another: those that a pronoun or a connective at its start refers to."""

from __future__ import annotations

import re
from itertools import islice, pairwise

from discorag.claims.units import Unit, UnitTable
from discorag.rst.markers import without_connective
from discorag.types.hierarchy import UnitKind

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


def points_back(unit: Unit) -> bool:
    """Whether it opens with a pronoun or a conjunction that refers to what stands before it."""
    return bool(_POINTERS.intersection(_opening(unit)[:1])) or (
        _may_point(unit) and _without_connective(unit).startswith(_POINTERS_ZH)
    )


def _shows_back(unit: Unit) -> bool:
    """Whether a demonstrative ("In this case") or a connective at its start may refer to what stands before it."""
    linked = unit.kind is not UnitKind.TURN and _may_point(unit) and _without_connective(unit) != unit.body
    return linked or bool(_DEMONSTRATIVES.intersection(_opening(unit)))


def _opening(unit: Unit) -> list[str]:
    """Its first words behind a connective."""
    if not _may_point(unit):
        return []
    return [m[0].casefold() for m in islice(_WORD.finditer(_without_connective(unit)), _OPENING)]


def _may_point(unit: Unit) -> bool:
    return unit.kind is UnitKind.TURN or (unit.kind in {UnitKind.PROSE, UnitKind.ITEM} and not unit.prefix)


def _without_connective(unit: Unit) -> str:
    """What stands behind "However,", "and" or "but" at its start."""
    joins = _JOINS_SPEECH if unit.kind is UnitKind.TURN else _JOINS
    return joins.sub("", without_connective(unit.body))
