"""Content selection without a language model: which units an extractive answer is made of."""

from __future__ import annotations

from dataclasses import dataclass

from discorag.answer.qualifiers import qualifiers
from discorag.claims.units import UnitTable
from discorag.disagreement.pairs import at_odds
from discorag.types.case import Case
from discorag.types.vectors import Vectors

LIMIT = 6  # units of an answer
PER_CHUNK = 2  # ... of one chunk
FLOOR = 0.55  # share of the best unit's relevance that a unit needs
REPEAT = 0.88  # cosine from which a unit says what a chosen one has said


@dataclass(frozen=True)
class Selection:
    """Indices into the unit table, in order of relevance, and pairs of them that are at odds.

    Example:
        >>> from discorag.answer.selection import select
        >>> from discorag.claims.units import unit_table
        >>> table = asyncio.run(unit_table(case.chunks, encoder))
        >>> select(case, table, asyncio.run(encoder.encode_query(case.query)))
        Selection(chosen=(1, 0), opposed=())
    """

    chosen: tuple[int, ...]
    opposed: tuple[tuple[int, int], ...] = ()


def select(case: Case, table: UnitTable, query: Vectors) -> Selection:
    """The most relevant statements, without repetition.

    A disagreement counts when one of its sides is relevant enough to be told; its other side is then told too. A
    claim comes with the sentence that says who makes it, or when it holds, if the tree has it apart.
    """
    relevance = table.relevance(query)
    ranked = sorted((i for i, u in enumerate(table.units) if u.statement), key=lambda i: (-float(relevance[i]), i))
    if not ranked:
        return Selection(())
    floor = FLOOR * float(relevance[ranked[0]])
    worthy = [i for i in ranked if relevance[i] >= floor]
    opposed = _opposed(case, table, set(worthy[: 2 * LIMIT]))
    chosen: list[int] = [i for pair in opposed[: LIMIT // 2] for i in pair]
    chosen = list(dict.fromkeys(chosen))
    for i in worthy:
        if len(chosen) < LIMIT and i not in chosen and _adds(i, chosen, table):
            chosen.append(i)
    chosen += _qualifiers(case, table, chosen)
    chosen.sort(key=lambda i: (-float(relevance[i]), i))
    return Selection(tuple(chosen), tuple(p for p in opposed if p[0] in chosen and p[1] in chosen))


def _qualifiers(case: Case, table: UnitTable, chosen: list[int]) -> list[int]:
    """What the chosen units must not be told without: their source, their condition; no new statement of its own."""
    needed = qualifiers(case.chunks, table)
    missing = (j for i in chosen for j in needed.get(i, ()))
    return [j for j in dict.fromkeys(missing) if j not in chosen and table.units[j].statement]


def _adds(i: int, chosen: list[int], table: UnitTable) -> bool:
    same_chunk = sum(table.units[j].chunk == table.units[i].chunk for j in chosen)
    repeats = any(float(table.vectors[i] @ table.vectors[j]) >= REPEAT for j in chosen)
    return same_chunk < PER_CHUNK and not repeats


def _opposed(case: Case, table: UnitTable, worthy: set[int]) -> list[tuple[int, int]]:
    if case.graph is None:
        return []
    pairs: list[tuple[int, int]] = []
    for edge in case.graph.edges:
        if edge.disagrees:
            a, b = at_odds(edge, table, case.number(edge.target), case.number(edge.source))
            if (a in worthy or b in worthy) and (b, a) not in pairs:
                pairs.append((a, b))
    return pairs
