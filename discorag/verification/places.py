"""Where the support of a sentence may stand: the sentences of the chunks that the reranker puts first."""

from __future__ import annotations

from discorag.answer.relevance import PAIRS, find_candidates, in_context
from discorag.claims.units import UnitTable
from discorag.models.reranker import Reranker
from discorag.types.case import Case
from discorag.types.errors import ModelError
from discorag.types.vectors import Vectors
from discorag.verification.judge import Place

PLACES = 3
"""Sentences around which places are made, in the cited chunks and in the others."""


async def find_places(
    case: Case, table: UnitTable, cited: set[int], sentence: str, vector: Vectors, reranker: Reranker
) -> tuple[Place, ...]:
    """Return places around the sentences that are closest to one of an answer: of the cited chunks, then of the others.

    The reranker reads at most `PAIRS` sentences; if its endpoint fails, cosine decides.

    Args:
        case: With the chunks.
        table: Their sentences.
        cited: Numbers of the chunks that the sentence cites.
        sentence: Without citations.
        vector: Its vector, shape (d,).
        reranker: Scores the candidates, with the sentence as the query.
    """
    parts = [part for part in _parts(table, cited) if part]
    groups = [[*find_candidates(case, table, part, sentence, vector, PAIRS // len(parts))] for part in parts]
    candidates = [i for group in groups for i in group]
    try:
        found = await reranker.scores(sentence, [in_context(case, table.units[i]) for i in candidates])
    except ModelError:
        found = (table.vectors[candidates] @ vector).tolist()
    scores = dict(zip(candidates, found, strict=True))
    best = [i for group in groups for i in sorted(group, key=scores.__getitem__, reverse=True)[:PLACES]]
    return tuple(dict.fromkeys(place for i in best for place in _around(case, table, i)))


def _parts(table: UnitTable, cited: set[int]) -> list[list[int]]:
    """The units of the cited chunks and those of the others: statements, unless a part has none."""
    parts = [[i for i, u in enumerate(table.units) if (u.chunk in cited) is inside] for inside in (True, False)]
    return [[i for i in part if table.units[i].statement] or part for part in parts]


def _around(case: Case, table: UnitTable, i: int) -> list[Place]:
    """The sentence around a unit alone, and with the ones before and after it."""
    first, last = whole_sentence(i, table)
    return [_place(case, table, first, last), _place(case, table, _before(first, table), _after(last, table))]


def _place(case: Case, table: UnitTable, first: int, last: int) -> Place:
    units = table.units[first : last + 1]
    chunk = case.chunks[units[0].chunk - 1]
    context = dict.fromkeys((chunk.title, *chunk.headings, *(h for u in units for h in u.headings)))
    return Place(tuple(range(first, last + 1)), " ".join(u.plain for u in units), "\n".join(context))


def whole_sentence(i: int, table: UnitTable) -> tuple[int, int]:
    """Return the first and last unit of the sentence around unit ``i``, which may be a part of one: who says it."""
    first, last = i, i
    while first > 0 and _continues(table, first - 1):
        first -= 1
    while last + 1 < len(table.units) and _continues(table, last):
        last += 1
    return first, last


def _continues(table: UnitTable, i: int) -> bool:
    """Whether the unit after ``i`` continues its sentence."""
    unit, then = table.units[i], table.units[i + 1]
    return unit.chunk == then.chunk and not unit.statement and then.text[:1].islower()


def _before(i: int, table: UnitTable) -> int:
    return i - 1 if i and table.units[i - 1].chunk == table.units[i].chunk else i


def _after(i: int, table: UnitTable) -> int:
    return i + 1 if i + 1 < len(table.units) and table.units[i + 1].chunk == table.units[i].chunk else i
