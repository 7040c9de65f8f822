"""How sentences of an answer may begin: what points at something untold brings that along, or is left out."""

from __future__ import annotations

import re

from discorag.claims.units import Unit, UnitTable
from discorag.rst.markers import opening, without_connective
from discorag.types.hierarchy import UnitKind
from discorag.types.rst_relations import Relation

_REACH = 2  # sentences that one may bring along, each for the next
_POINTERS = frozenset(
    {"he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "hers", "theirs", "this", "that"}
    | {"these", "those", "such", "both", "neither", "and", "but", "or", "nor", "so", "then", "thus", "hence", "yet"}
    | {"also", "another"}
)
_POINTERS_ZH = ("他", "她", "它", "这", "那", "该", "其", "此", "但", "所以", "因此", "于是", "并", "而")
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_WORD = re.compile(r"[a-z]+(?=[\s,])")
_ANNOUNCES = (":", "：")


def with_context(table: UnitTable, order: list[int]) -> list[int]:
    """The units in order, each after what it needs: the sentence that it points back to, or that introduces it.

    One that points at what cannot be told is left out, unless nothing else is there.
    """
    told: list[int] = []
    for i in order:
        needed = _needed(table, i)
        if needed is not None:
            told += [j for j in (*needed, i) if j not in told]
    return told or order


def _needed(table: UnitTable, i: int) -> list[int] | None:
    """Indices of what must be told right before unit ``i``; None if something untold would be missing."""
    unit = table.units[i]
    lead = table.units[unit.lead] if unit.lead is not None else None
    if lead and unit.lead is not None and (unit.kind is UnitKind.CODE or lead.text.endswith(_ANNOUNCES)):
        return [*(_needed(table, unit.lead) or []), unit.lead] if lead.kind is not UnitKind.HEADER else []
    before: list[int] = []
    while len(before) < _REACH and points_back(table.units[i]):
        i -= 1
        if i < 0 or table.units[i].chunk != unit.chunk or not table.units[i].statement:
            return None
        before.insert(0, i)
    return None if points_back(table.units[i]) else before


def follows(table: UnitTable, before: int, i: int) -> bool:
    """Whether unit ``i`` stands right behind ``before``, which was told, or is introduced by it."""
    unit = table.units[i]
    return table.units[before].chunk == unit.chunk and (before == i - 1 or unit.lead == before)


def points_back(unit: Unit) -> bool:
    """Whether it opens with a pronoun or a conjunction that refers to what stands before it."""
    if unit.kind not in {UnitKind.PROSE, UnitKind.ITEM} or unit.prefix:
        return False
    text = without_connective(unit.body)
    first = _WORD.match(text)
    return bool(first and first[0].casefold() in _POINTERS) or text.startswith(_POINTERS_ZH)


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
