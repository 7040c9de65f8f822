"""Where the support of a sentence may stand: the sentences of the chunks that the reranker puts first."""

from __future__ import annotations

from discorag.generation.relevance import PAIRS, find_candidates, in_context
from discorag.ingest.segment.sentence_table import SentenceTable
from discorag.models.reranker import Reranker
from discorag.schema.answer_inputs import AnswerInputs
from discorag.schema.errors import ModelError
from discorag.schema.vectors import Vectors
from discorag.verification.judge import Place

PLACES = 3
"""Sentences around which places are made, in the cited chunks and in the others."""


async def find_places(
    inputs: AnswerInputs, table: SentenceTable, cited: set[int], sentence: str, vector: Vectors, reranker: Reranker
) -> tuple[Place, ...]:
    """Return places around the sentences that are closest to one of an answer: of the cited chunks, then of the others.

    The reranker reads at most `PAIRS` sentences; if its endpoint fails, cosine decides.

    Args:
        inputs: With the chunks.
        table: Their sentences.
        cited: Numbers of the chunks that the sentence cites.
        sentence: Without citations.
        vector: Its vector, shape (d,).
        reranker: Scores the candidates, with the sentence as the query.
    """
    parts = [part for part in _parts(table, cited) if part]
    groups = [[*find_candidates(inputs, table, part, sentence, vector, PAIRS // len(parts))] for part in parts]
    candidates = [i for group in groups for i in group]
    try:
        found = await reranker.scores(sentence, [in_context(inputs, table.sentences[i]) for i in candidates])
    except ModelError:
        found = (table.vectors[candidates] @ vector).tolist()
    scores = dict(zip(candidates, found, strict=True))
    best = [i for group in groups for i in sorted(group, key=scores.__getitem__, reverse=True)[:PLACES]]
    return tuple(dict.fromkeys(place for i in best for place in _around(inputs, table, i)))


def _parts(table: SentenceTable, cited: set[int]) -> list[list[int]]:
    """The units of the cited chunks and those of the others: statements, unless a part has none."""
    parts = [[i for i, u in enumerate(table.sentences) if (u.chunk in cited) is inside] for inside in (True, False)]
    return [[i for i in part if table.sentences[i].statement] or part for part in parts]


def _around(inputs: AnswerInputs, table: SentenceTable, i: int) -> list[Place]:
    """The sentence around a unit alone, and with the ones before and after it."""
    first, last = whole_sentence(i, table)
    return [_place(inputs, table, first, last), _place(inputs, table, _before(first, table), _after(last, table))]


def _place(inputs: AnswerInputs, table: SentenceTable, first: int, last: int) -> Place:
    units = table.sentences[first : last + 1]
    chunk = inputs.chunks[units[0].chunk - 1]
    context = dict.fromkeys((chunk.title, *chunk.headings, *(h for u in units for h in u.headings)))
    return Place(tuple(range(first, last + 1)), " ".join(u.plain for u in units), "\n".join(context))


def whole_sentence(i: int, table: SentenceTable) -> tuple[int, int]:
    """Return the first and last unit of the sentence around unit ``i``, which may be a part of one: who says it."""
    first, last = i, i
    while first > 0 and _continues(table, first - 1):
        first -= 1
    while last + 1 < len(table.sentences) and _continues(table, last):
        last += 1
    return first, last


def _continues(table: SentenceTable, i: int) -> bool:
    """Whether the unit after ``i`` continues its sentence."""
    unit, then = table.sentences[i], table.sentences[i + 1]
    return unit.chunk == then.chunk and not unit.statement and then.text[:1].islower()


def _before(i: int, table: SentenceTable) -> int:
    return i - 1 if i and table.sentences[i - 1].chunk == table.sentences[i].chunk else i


def _after(i: int, table: SentenceTable) -> int:
    return i + 1 if i + 1 < len(table.sentences) and table.sentences[i + 1].chunk == table.sentences[i].chunk else i
