"""The extractive answer: selected units in plan order, joined by connectives that fit their relation.

No content word is invented: a sentence is a source's own, with at most one connective from `CONNECTIVES` before it. A
connective of the source ("However, ...") is dropped where what it referred to does not stand before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discorag.answer.openings import alone, capitalised, follows, may_follow, with_context
from discorag.answer.relevance import Floats
from discorag.answer.selection import Selector, select_sentences
from discorag.claims import cues
from discorag.claims.units import Unit, UnitTable
from discorag.relations.rules import SAME
from discorag.text.citations import escaped, steps, with_citation
from discorag.text.sentences import language_of
from discorag.text.terms import terms
from discorag.types.case import Case, Outcome
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.graph import Edge
from discorag.types.hierarchy import UnitKind
from discorag.types.plan import Plan, Reference

_WORD = re.compile(r"[^\W\d_]+")
CONNECTIVES: dict[ChunkRelation, tuple[str, str]] = {
    ChunkRelation.CONTRADICTS: ("By contrast,", "相反，"),
    ChunkRelation.CONTRASTS_WITH: ("By contrast,", "相比之下，"),
    ChunkRelation.SUPPORTS: ("Likewise,", "同样，"),
    ChunkRelation.EXEMPLIFIES: ("For example,", "例如，"),
    ChunkRelation.RESULTS_FROM: ("As a result,", "因此，"),
}


@dataclass(frozen=True)
class Extractor:
    """Writes the extractive answer.

    Example:
        >>> from discorag.answer.realisation import Extractor
        >>> print(asyncio.run(Extractor(selector).answer(case)).value)
        Vitamin D did not lower the risk of influenza [2.1].
        Vitamin D lowered the risk of influenza by 12 % in schoolchildren [1.1].
    """

    selector: Selector

    async def answer(self, case: Case) -> Outcome[str]:
        """One cited sentence a line: in plan order; by relevance without a plan, or when the plan cites nothing.

        Empty if no unit is a statement.
        """
        table, relevance = await self.selector.rank(case)
        order = resolve(case.plan, table, relevance.logits) if case.plan else []
        if not order:
            selection = select_sentences(case, table, relevance, self.selector.calibration_of(relevance))
            order = [j for i in selection.indices for j in table.group(i)]
        return Outcome(value="\n".join(_sentences(case, table, with_context(table, order))))


def resolve(plan: Plan, table: UnitTable, relevance: Floats) -> list[int]:
    """Indices of the units that a plan cites, in its order, each once.

    A reference to a whole chunk means its most relevant statement not used yet; one that does not exist is passed over.
    """
    order: list[int] = []
    for step in steps(plan):
        for reference in step.references:
            order += [i for i in _resolve(reference, table, relevance, order) if i not in order]
    return order


def _resolve(reference: Reference, table: UnitTable, relevance: Floats, used: list[int]) -> list[int]:
    if reference.first is None:
        free = [i for i in table.of_chunk(reference.chunk) if table.units[i].statement and i not in used]
        return sorted(free, key=lambda i: -float(relevance[i]))[:1]
    last = min(reference.last or reference.first, len(table.of_chunk(reference.chunk)))
    indices = (table.index(reference.chunk, n) for n in range(reference.first, last + 1))
    return [i for i in indices if i is not None and table.units[i].kind is not UnitKind.FURNITURE]


def _sentences(case: Case, table: UnitTable, order: list[int]) -> list[str]:
    lines: list[str] = []
    common = {w for c in case.chunks for w in _WORD.findall(c.text) if w.islower()}
    before: int | None = None
    linked = False
    for i in order:
        unit, told = table.units[i], table.units[before] if before is not None else None
        may_link = not linked and before is not None and may_follow(unit)
        connective = _connective(case, table, before, i) if may_link and before is not None else ""
        text = escaped(_text(unit, told, follows=before is not None and follows(table, before, i)))
        lines.append(with_citation(_joined(connective, text, common), f"[{unit.chunk}.{unit.number}]"))
        before, linked = i, bool(connective)
    return lines


def _text(unit: Unit, told: Unit | None, *, follows: bool) -> str:
    """How the unit reads after another: who speaks is said once, and nothing refers to what does not stand there."""
    same = told is not None and told.chunk == unit.chunk and told.prefix == unit.prefix
    body = unit.body if follows else alone(unit)
    if unit.prefix and not same:
        return unit.prefix + body
    return capitalised(body) if unit.kind in {UnitKind.ITEM, UnitKind.PROSE} and not follows else body


def _connective(case: Case, table: UnitTable, first: int, then: int) -> str:
    before, unit = table.units[first], table.units[then]
    if case.graph is None or before.chunk == unit.chunk:
        return ""
    ids = case.chunks[unit.chunk - 1].id, case.chunks[before.chunk - 1].id
    edge = next((e for e in case.graph.edges if (e.source, e.target) in (ids, ids[::-1])), None)
    if edge is None or not _fits(edge, ids[0], before, unit):
        return ""
    if edge.relation is ChunkRelation.SUPPORTS and float(table.vectors[first] @ table.vectors[then]) < SAME:
        return ""  # the chunks say the same, these two sentences do not
    english, chinese = CONNECTIVES.get(edge.relation, ("", ""))
    return chinese if language_of(unit.text) == "zh" else english


def _fits(edge: Edge, source: str, before: Unit, unit: Unit) -> bool:
    """Whether the edge holds between these two units: the very claims at odds, else from this chunk to the last."""
    if not (edge.disagrees or edge.outdates):
        return edge.source == source
    spans = {edge.source_span, edge.target_span}
    return None in spans or spans == {before.span, unit.span}


def _joined(connective: str, sentence: str, common: set[str]) -> str:
    """Connective and sentence, which loses its capital unless it begins with a name."""
    if not connective:
        return sentence
    if not connective.isascii():
        return connective + sentence
    first = _WORD.match(sentence)
    if first is None or not first[0].istitle() or first[0] == "I":
        return f"{connective} {sentence}"
    word = first[0].lower()
    is_common = word in common or word in cues.PREPOSITIONS or not terms(word)  # a stop word is never a name
    return f"{connective} {sentence[0].lower() + sentence[1:] if is_common else sentence}"
