"""Which chunks of different documents are at odds: claims about effects, then plain opposites of one statement.

Precision first. What the effect claims of `discorag.claims.effects` do not see: two sentences that say almost the same
of the same things, one of them denied, with an antonym in it, or with another figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discorag.claims import cues
from discorag.claims.effects import Claim, claim_of, stems
from discorag.claims.units import UnitTable
from discorag.disagreement.effects import NEAR, odds
from discorag.types.chunk_relations import ChunkRelation

CLOSE = 0.65  # cosine from which two sentences can be opposites
CLOSER = 0.85  # ... from which they can differ in one figure only
_COVERED = 0.75  # share of the shorter sentence's stems that the other has
_SAME = 0.8  # ... of both sentences' stems that are shared, where a figure makes the difference

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[a-z]+")
_ANTONYMS = (
    "open close, opened closed, opening closing, open closed, on off, up down, inside outside, indoors "
    "outdoors, above below, high low, higher lower, fast slow, faster slower, quickly slowly, hot cold, "
    "dry wet, full empty, filling emptying, early late, earlier later, first last, young old, old new, "
    "same different, legal illegal, safe unsafe, safe dangerous, allowed forbidden, permitted prohibited, "
    "accept reject, accepted rejected, accepts rejects, approved rejected, true false, alive dead, won "
    "lost, win lose, present absent, possible impossible, likely unlikely, mandatory optional, increase "
    "decrease, increased decreased, more fewer, more less, most least, before after, asleep awake, awake "
    "sleeping, standing sitting, with without, agree disagree, agreed disagreed, include exclude, "
    "includes excludes"
)
_OPPOSITE = {pair for a, b in (p.split() for p in _ANTONYMS.split(", ")) for pair in ((a, b), (b, a))}


@dataclass(frozen=True)
class Statement:
    """A sentence of a source.

    Example:
        >>> from discorag.disagreement.statements import Statement, opposed
        >>> a = Statement("Vitamin D lowered the risk of influenza.")
        >>> b = Statement("Vitamin D did not lower the risk of influenza.")
        >>> b.denied, str(opposed(a, b, similarity=0.9))
        (True, 'CONTRADICTS')
    """

    text: str

    @cached_property
    def claim(self) -> Claim | None:
        """The effect that it claims."""
        return claim_of(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of its content words."""
        return stems(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words in lower case."""
        return frozenset(_WORD.findall(self.text.lower()))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its figures as written."""
        return frozenset(_NUMBER.findall(self.text))

    @cached_property
    def denied(self) -> bool:
        """Whether it has a negation."""
        return bool(cues.NEGATION.search(self.text))

    @cached_property
    def asserted(self) -> bool:
        """Whether it is said to be so, not asked, supposed or reported."""
        loose = cues.HYPOTHETICAL.search(self.text) or cues.ATTRIBUTION.search(self.text)
        return not loose and not self.text.rstrip().endswith(("?", "？"))

    @cached_property
    def qualifiers(self) -> frozenset[str]:
        """What limits it."""
        return frozenset(m[0].lower() for m in cues.QUALIFIER.finditer(self.text))


def opposed(a: Statement, b: Statement, *, similarity: float) -> ChunkRelation | None:
    """CONTRADICTS or CONTRASTS_WITH if two statements are at odds, None otherwise.

    Args:
        a: A statement.
        b: A statement of another source.
        similarity: Cosine of the two.
    """
    if found := effects_opposed(a, b, similarity=similarity):
        return found
    if similarity < CLOSE or not (a.asserted and b.asserted):
        return None
    shared, least = len(a.stems & b.stems), min(len(a.stems), len(b.stems))
    if shared < 2 or not (_polarity(a, b, shared / least) or _figures(a, b, similarity)):
        return None
    return ChunkRelation.CONTRADICTS if a.qualifiers == b.qualifiers else ChunkRelation.CONTRASTS_WITH


def _polarity(a: Statement, b: Statement, covered: float) -> bool:
    """Whether one denies what the other says, or says it with a word's antonym."""
    if a.denied != b.denied:
        return covered >= _COVERED
    only_a, only_b = a.words - b.words, b.words - a.words
    opposite = any((x, y) in _OPPOSITE for x in only_a for y in only_b)
    return opposite and covered >= _COVERED and len(a.stems ^ b.stems) <= 2


def _figures(a: Statement, b: Statement, similarity: float) -> bool:
    """Whether the two say the same with one figure each, and not the same one."""
    if similarity < CLOSER or a.denied != b.denied or len(a.numbers) != 1 or len(b.numbers) != 1:
        return False
    left, right = a.stems - _cut(a.numbers), b.stems - _cut(b.numbers)
    return a.numbers != b.numbers and len(left & right) >= _SAME * len(left | right)


def _cut(numbers: frozenset[str]) -> frozenset[str]:
    return frozenset(n[:5] for n in numbers)


@dataclass(frozen=True)
class Odds:
    """Two units of two chunks that are at odds, as indices into the unit table; ``left`` is of the earlier chunk.

    Example:
        >>> from discorag.claims.units import unit_table
        >>> from discorag.disagreement.statements import disagreements
        >>> table = asyncio.run(unit_table(case.chunks, encoder))
        >>> found = disagreements(table, ["trial", "review"])
        >>> [(str(odds.relation), odds.left, odds.right) for odds in found.values()]
        [('CONTRADICTS', 0, 1)]
    """

    relation: ChunkRelation
    left: int
    right: int
    similarity: float


def effects_opposed(a: Statement, b: Statement, *, similarity: float) -> ChunkRelation | None:
    """The same by their claims about effects alone."""
    return odds(a.claim, b.claim, similarity=similarity) if a.claim and b.claim else None


def disagreements(
    table: UnitTable, documents: Sequence[str], by: Callable[..., ChunkRelation | None] = opposed
) -> dict[tuple[int, int], Odds]:
    """For each pair of chunks of different documents that are at odds, the most similar statements that are.

    Args:
        table: Units of the chunks.
        documents: The document of each chunk, in order.
        by: When two statements are at odds: `opposed`, or `effects_opposed`.

    Returns:
        By zero-based numbers of the chunks, the lower first.
    """
    statements = [Statement(u.text) if u.statement else None for u in table.units]
    chunk = np.array([u.chunk - 1 for u in table.units], dtype=np.int64)
    found: dict[tuple[int, int], Odds] = {}
    for left, right, similarity in _candidates(table, statements, chunk, documents):
        pair = (int(chunk[left]), int(chunk[right]))
        a, b = statements[left], statements[right]
        if pair not in found and a and b and (relation := by(a, b, similarity=similarity)):
            found[pair] = Odds(relation, left, right, similarity)
    return found


def _candidates(
    table: UnitTable, statements: Sequence[Statement | None], chunk: NDArray[np.int64], documents: Sequence[str]
) -> list[tuple[int, int, float]]:
    """Pairs of statements near enough to be at odds, the most similar first."""
    if not statements:
        return []
    similarity = table.vectors @ table.vectors.T
    stated = np.array([s is not None for s in statements])
    claims = np.array([s is not None and s.claim is not None for s in statements])
    names = {d: i for i, d in enumerate(dict.fromkeys(documents))}
    owner = np.array([names[documents[int(c)]] for c in chunk])
    near = (similarity >= CLOSE) & np.outer(stated, stated) | (similarity >= NEAR) & np.outer(claims, claims)
    near &= (chunk[:, None] < chunk[None, :]) & (owner[:, None] != owner[None, :])
    rows, columns = np.nonzero(near)
    order = np.argsort(-similarity[rows, columns], kind="stable")
    return [(int(rows[k]), int(columns[k]), float(similarity[rows[k], columns[k]])) for k in order]
