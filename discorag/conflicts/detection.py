"""Which chunks of different documents are at odds: claims about effects, then what a small model calls a contradiction.

Precision first: a sentence is compared with those of other documents that are near in meaning only, and the model's
threshold leaves out most of what it is not sure of (`python -m training.disagreement`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discorag.conflicts.claims.effects import NEAR
from discorag.conflicts.claims.quantities import quantities
from discorag.conflicts.features import beside, load_contradiction
from discorag.conflicts.statement import Compared, Statement
from discorag.ingest.segment.sentence_table import SentenceTable
from discorag.schema.discourse import ChunkRelation
from discorag.schema.document import UnitKind

CLOSE = 0.65
"""Cosine from which the model is asked; claims about effects are compared from `NEAR` on."""
MOST = 40
"""Pairs of a question's inputs that the model is asked about, the most similar: a millisecond and a half each."""
_LEAST = 5  # words of a statement that the model judges: it has learned from whole English sentences
_OF_TABLES = frozenset({UnitKind.ROW, UnitKind.HEADER})
"""Of what a row tells stands elsewhere: alike rows of two companies contradict nobody."""


@dataclass(frozen=True)
class Opinion:
    """What is said of two statements; ``confidence``: how likely they contradict each other, None where nobody judged.

    Example:
        >>> from discorag.conflicts.detection import opposed
        >>> from discorag.conflicts.statement import Compared, Statement
        >>> a = Statement("Vitamin D lowered the risk of influenza.")
        >>> b = Statement("Vitamin D did not lower the risk of influenza.")
        >>> str(opposed([Compared(a, b, similarity=0.9)])[0].relation)
        'CONTRADICTS'
    """

    relation: ChunkRelation | None
    confidence: float | None = None


Engine = Callable[[Sequence[Compared]], Sequence[Opinion]]


def opposed(pairs: Sequence[Compared]) -> list[Opinion]:
    """CONTRADICTS, CONTRASTS_WITH or nothing for each pair of statements, by effects and by the model."""
    if not pairs:
        return []
    model, seen = load_contradiction(), [view for pair in pairs for view in beside(pair)]
    sure = model.probabilities(seen).reshape(-1, 2).mean(axis=1)
    return [_opinion(pair, float(p), model.threshold) for pair, p in zip(pairs, sure, strict=True)]


def _opinion(pair: Compared, sure: float, threshold: float) -> Opinion:
    if found := pair.effect:
        return Opinion(found, sure)
    if not _judged(pair) or sure < threshold:
        return Opinion(None, sure)
    limited = pair.a.qualifiers != pair.b.qualifiers or _of_other_years(pair)
    return Opinion(ChunkRelation.CONTRASTS_WITH if limited else ChunkRelation.CONTRADICTS, sure)


def _judged(pair: Compared) -> bool:
    """Whether the model has a say: two assertions, near in meaning, of the length that it has learned from."""
    both = (pair.a, pair.b)
    return pair.similarity >= CLOSE and all(s.asserted and len(s.text.split()) >= _LEAST for s in both)


def effects_opposed(pairs: Sequence[Compared]) -> list[Opinion]:
    """The same by claims about effects alone: nothing learned."""
    return [Opinion(pair.effect) for pair in pairs]


def _of_other_years(pair: Compared) -> bool:
    """Whether both name years, and not the same, beside other figures that differ: neither denies the other."""
    (a, others_a), (b, others_b) = (_years(s.text) for s in (pair.a, pair.b))
    return bool(a and b) and not a & b and others_a != others_b


def _years(text: str) -> tuple[set[float], set[float]]:
    found = quantities(text)
    years = {q.raw for q in found if q.year}
    return years, {q.value for q in found} - years


@dataclass(frozen=True)
class Odds:
    """Two units of two chunks that are at odds, as indices into the unit table; ``left`` is of the earlier chunk.

    Example:
        >>> from discorag.ingest.segment.sentence_table import sentence_table
        >>> from discorag.conflicts.detection import disagreements
        >>> table = asyncio.run(sentence_table(inputs.chunks, encoder))
        >>> found = disagreements(table, ["trial", "review"])
        >>> [(str(odds.relation), odds.left, odds.right) for odds in found.values()]
        [('CONTRADICTS', 0, 1)]
    """

    relation: ChunkRelation
    left: int
    right: int
    confidence: float | None


def disagreements(table: SentenceTable, documents: Sequence[str], by: Engine = opposed) -> dict[tuple[int, int], Odds]:
    """For each pair of chunks of different documents that are at odds, the most similar statements that are.

    Args:
        table: Units of the chunks.
        documents: The document of each chunk, in order.
        by: `opposed`, or `effects_opposed`.

    Returns:
        By zero-based numbers of the chunks, the lower first.
    """
    statements = {
        i: Statement(u.text) for i, u in enumerate(table.sentences) if u.statement and u.kind not in _OF_TABLES
    }
    places = list(_candidates(table, statements, documents))
    found: dict[tuple[int, int], Odds] = {}
    opinions = by([pair for _, _, pair in places])
    for (left, right, _), said in zip(places, opinions, strict=True):
        if said.relation:
            pair = (table.sentences[left].chunk - 1, table.sentences[right].chunk - 1)
            found.setdefault(pair, Odds(said.relation, left, right, said.confidence))
    return found


def _candidates(
    table: SentenceTable, statements: Mapping[int, Statement], documents: Sequence[str]
) -> Iterator[tuple[int, int, Compared]]:
    """Pairs near enough to be at odds, the most similar first: all claims about effects at odds, and `MOST` others."""
    others = 0
    for left, right, similarity in _near(table, statements, documents):
        pair = Compared(statements[left], statements[right], similarity)
        claimed = pair.effect is not None
        asked = not claimed and pair.a.text != pair.b.text and _judged(pair)
        others += asked
        if claimed or (asked and others <= MOST):
            yield left, right, pair


def _near(
    table: SentenceTable, statements: Mapping[int, Statement], documents: Sequence[str]
) -> list[tuple[int, int, float]]:
    if not statements:
        return []
    similarity, chunk = (
        table.vectors @ table.vectors.T,
        np.array([u.chunk - 1 for u in table.sentences], dtype=np.int64),
    )
    stated = np.array([i in statements for i in range(len(table.sentences))])
    claims = np.array([i in statements and statements[i].claim is not None for i in range(len(table.sentences))])
    near = (similarity >= CLOSE) & np.outer(stated, stated) | (similarity >= NEAR) & np.outer(claims, claims)
    near &= (chunk[:, None] < chunk[None, :]) & _apart(chunk, documents)
    rows, columns = np.nonzero(near)
    order = np.argsort(-similarity[rows, columns], kind="stable")
    return [(int(rows[k]), int(columns[k]), float(similarity[rows[k], columns[k]])) for k in order]


def _apart(chunk: NDArray[np.int64], documents: Sequence[str]) -> NDArray[np.bool_]:
    """Which units are of different documents, shape (units, units)."""
    names = {d: i for i, d in enumerate(dict.fromkeys(documents))}
    owner = np.array([names[documents[int(c)]] for c in chunk])
    return owner[:, None] != owner[None, :]
