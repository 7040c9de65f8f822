"""Content selection without a language model: which units an extractive answer is made of, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from discorag.answer.qualifiers import qualifiers
from discorag.answer.scorer import model, scores
from discorag.answer.stop import adds
from discorag.answer.words import Floats, said_in
from discorag.claims import cues
from discorag.claims.units import UnitTable
from discorag.disagreement.pairs import at_odds
from discorag.types.case import Case
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.graph import Edge
from discorag.types.hierarchy import UnitKind
from discorag.types.vectors import Vectors

LIMIT = 6  # units of an answer
PER_CHUNK = 3  # ... of one chunk
REPEAT = 0.88  # cosine from which a unit says what a chosen one has said


class Role(StrEnum):
    """What a unit does in the answer."""

    ANSWER = "answer"
    QUALIFIES = "qualifies"
    OPPOSES = "opposes"
    SUPPORTS = "supports"
    ADDS = "adds"


@dataclass(frozen=True)
class Told:
    """A unit that is told: its index in the table, what it does there, and to which other unit (None: to none).

    Example:
        >>> from discorag.answer.selection import Role, Told
        >>> Told(3, Role.QUALIFIES, of=2).role
        <Role.QUALIFIES: 'qualifies'>
    """

    unit: int
    role: Role
    of: int | None = None


@dataclass(frozen=True)
class Selection:
    """Units in the order in which they are told, and pairs of them that are at odds.

    Example:
        >>> from discorag.answer.selection import select
        >>> from discorag.claims.units import unit_table
        >>> table = asyncio.run(unit_table(case.chunks, encoder))
        >>> select(case, table, asyncio.run(encoder.encode_query(case.query))).chosen
        (1, 0)
    """

    told: tuple[Told, ...]
    opposed: tuple[tuple[int, int], ...] = ()

    @property
    def chosen(self) -> tuple[int, ...]:
        """Indices into the unit table, in the order in which they are told."""
        return tuple(t.unit for t in self.told)


def select(case: Case, table: UnitTable, query: Vectors) -> Selection:
    """What answers first; then what qualifies it, what speaks against it, what supports it; then the next best, as
    long as it still adds.

    A disagreement counts when one of its sides is relevant enough to be told; its other side is then told too. A
    claim comes with the sentence that says who makes it, or when it holds, if the tree has it apart.
    """
    relevance = scores(case, table, query)
    ranked = sorted((i for i, u in enumerate(table.units) if u.statement), key=lambda i: (-float(relevance[i]), i))
    if not ranked:
        return Selection(())
    worthy = [i for i in ranked if i == ranked[0] or relevance[i] >= model().threshold]
    opposed = _opposed(case, table, set(worthy[: 2 * LIMIT]))
    chosen = list(dict.fromkeys(i for pair in opposed[: LIMIT // 2] for i in pair))
    _extend(chosen, ranked, relevance, case, table)
    chosen.sort(key=lambda i: (_is_disputed_hearsay(i, table, opposed), -float(relevance[i]), i))
    told = _told(case, table, chosen, opposed)
    units = {t.unit for t in told}
    return Selection(told, tuple(p for p in opposed if units.issuperset(p)))


def _told(case: Case, table: UnitTable, chosen: list[int], opposed: list[tuple[int, int]]) -> tuple[Told, ...]:
    """The chosen units, best first, each followed by what belongs to it."""
    needed, told = qualifiers(case.chunks, table), dict[int, Told]()
    for i in (j for first in chosen for j in _together(first, chosen, table)):
        if i in told:
            continue
        told[i] = Told(i, Role.ADDS if told else Role.ANSWER)
        others = [Told(j, Role.QUALIFIES, i) for j in needed.get(i, ()) if table.units[j].statement]
        others += [Told(j, Role.OPPOSES, i) for j in _counterparts(i, opposed)]
        others += [Told(j, Role.SUPPORTS, i) for j in _supporting(case, table, i, chosen)]
        for other in others:
            told.setdefault(other.unit, other)
    return tuple(told.values())


def _together(i: int, chosen: list[int], table: UnitTable) -> list[int]:
    """Unit ``i`` with the chosen ones of its list or code: what introduces them, then they as they stand."""
    return sorted(j for j in chosen if _introduced_by(j, table) == _introduced_by(i, table))


def _introduced_by(i: int, table: UnitTable) -> int:
    unit = table.units[i]
    return unit.lead if unit.lead is not None and unit.kind in {UnitKind.ITEM, UnitKind.CODE} else i


def _is_disputed_hearsay(i: int, table: UnitTable, opposed: list[tuple[int, int]]) -> bool:
    """Whether a unit tells what somebody says and another source says otherwise: no main point to start with."""
    return any(i in pair for pair in opposed) and bool(cues.ATTRIBUTION.search(table.units[i].text))


def _counterparts(i: int, opposed: list[tuple[int, int]]) -> Iterator[int]:
    return (b if a == i else a for a, b in opposed if i in (a, b))


def _supporting(case: Case, table: UnitTable, i: int, chosen: list[int]) -> Iterator[int]:
    """Those of the chosen units whose chunk the graph says to support the chunk of unit ``i``."""
    if case.graph is None:
        return
    chunk = table.units[i].chunk
    edges: list[Edge] = [e for e in case.graph.edges if e.relation is ChunkRelation.SUPPORTS]
    sources = {case.number(e.source) for e in edges if case.number(e.target) == chunk}
    yield from (j for j in chosen if table.units[j].chunk in sources)


def _extend(chosen: list[int], ranked: Sequence[int], relevance: Floats, case: Case, table: UnitTable) -> None:
    """With the best unit, and the next best until one does not add any more, or is not relevant."""
    for i in ranked:
        if len(chosen) >= LIMIT or (i != ranked[0] and not _goes_on(i, chosen, relevance, case)):
            return
        if i not in chosen and _is_new(i, chosen, table):
            chosen.append(i)


def _goes_on(i: int, chosen: list[int], relevance: Floats, case: Case) -> bool:
    if case.detail == "full":
        return bool(relevance[i] >= model().threshold)
    return adds(i, chosen, relevance, said_in(case))


def _is_new(i: int, chosen: list[int], table: UnitTable) -> bool:
    same_chunk = sum(table.units[j].chunk == table.units[i].chunk for j in chosen)
    repeats = any(float(table.vectors[i] @ table.vectors[j]) >= REPEAT for j in chosen)
    return same_chunk < PER_CHUNK and not repeats


def _opposed(case: Case, table: UnitTable, worthy: set[int]) -> list[tuple[int, int]]:
    if case.graph is None:
        return []
    pairs: list[tuple[int, int]] = []
    for edge in case.graph.edges:
        if edge.disagrees or edge.outdates:
            a, b = at_odds(edge, table, case.number(edge.target), case.number(edge.source))
            if (a in worthy or b in worthy) and (b, a) not in pairs:
                pairs.append((b, a) if edge.outdates else (a, b))
    return pairs
