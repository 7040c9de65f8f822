"""The rule-based plan engine: what was selected, put in order by the graph, and written down as a plan."""

from __future__ import annotations

from dataclasses import dataclass

from discorag.answer.selection import Selection, select
from discorag.claims import cues
from discorag.claims.units import UnitTable, units_of
from discorag.models.protocol import Encoder
from discorag.types.case import Case, Outcome
from discorag.types.chunk_relations import ChunkRelation
from discorag.types.graph import RhetoricalGraph
from discorag.types.plan import Plan

# The source says more about the target, or comes after it: the target is told first.
SATELLITE_SOURCE = frozenset(
    {ChunkRelation.SUPPORTS, ChunkRelation.ELABORATES, ChunkRelation.EXEMPLIFIES, ChunkRelation.SPECIFIES}
    | {ChunkRelation.SUPPLEMENTS, ChunkRelation.JUSTIFIES, ChunkRelation.RESULTS_FROM, ChunkRelation.FOLLOWS}
)
# The source leads to the target: it is told first.
LEADING_SOURCE = frozenset(
    {ChunkRelation.CAUSES, ChunkRelation.ENABLES, ChunkRelation.PREVENTS, ChunkRelation.PRECEDES}
    | {ChunkRelation.BACKGROUND_FOR, ChunkRelation.GENERALIZES, ChunkRelation.MOTIVATES}
)


@dataclass(frozen=True)
class RulePlanEngine:
    """Background first; nuclei before satellites; each point with its counter-claim beside it.

    Without a graph the order is that of retrieval.

    Example:
        >>> from discorag.answer.planning import RulePlanEngine
        >>> print(asyncio.run(RulePlanEngine(encoder).plan(case)).value.paragraph)
        Use [1.1]. Use [2.1].
    """

    encoder: Encoder

    async def plan(self, case: Case) -> Outcome[Plan]:
        """A paragraph with one sentence for each selected unit; it cites units as ``[chunk.unit]``."""
        table = await units_of(case, self.encoder)
        selection = select(case, table, await self.encoder.encode_query(case.query))
        if not selection.chosen:
            return Outcome(value=Plan(paragraph="None of the passages holds a statement that answers the question."))
        if case.graph is None:
            steps = [f"Use {_cite(table, i)}." for i in sorted(selection.chosen)]
        else:
            steps = _steps(case, case.graph, table, selection)
        return Outcome(value=Plan(paragraph=" ".join(steps)))


def _steps(case: Case, graph: RhetoricalGraph, table: UnitTable, selection: Selection) -> list[str]:
    background = [i for i in selection.chosen if _is_background(case, graph, table, i) and not _opposes(selection, i)]
    steps = [f"Begin with the background in {_cite(table, i)}." for i in background]
    told = set(background)
    rest = sorted((i for i in selection.chosen if i not in told), key=lambda i: _disputed_hearsay(table, selection, i))
    for i in _nuclei_first(case, graph, table, rest):
        if i in told:
            continue
        lead = "State the main point of" if len(told) == len(background) else "Add"
        steps.append(f"{lead} {_cite(table, i)}.")
        told.add(i)
        for j in _counterparts(selection, i, told):
            steps.append(f"Set against it {_cite(table, j)}, which {_verdict(case, graph, table, i, j)}.")
            told.add(j)
    return steps


def _disputed_hearsay(table: UnitTable, selection: Selection, i: int) -> bool:
    """Whether a unit tells what somebody says and another source says otherwise: no main point to start with."""
    return _opposes(selection, i) and bool(cues.ATTRIBUTION.search(table.units[i].text))


def _nuclei_first(case: Case, graph: RhetoricalGraph, table: UnitTable, chosen: list[int]) -> list[int]:
    """The main point, then the others by relevance, except that what supports or follows another comes after it.

    Between chunks the graph says which is which, inside a chunk the tree does; in a circle the more relevant leads.
    """
    leads = _leads(case, graph)
    order, waiting = chosen[:1], chosen[1:]
    while waiting:
        free = (i for i in waiting if not any(_before(table, leads, j, i) for j in waiting if j != i))
        order.append(next(free, waiting[0]))
        waiting.remove(order[-1])
    return order


def _leads(case: Case, graph: RhetoricalGraph) -> set[tuple[int, int]]:
    """Pairs of chunk numbers of which the first has to be told before the second."""
    pairs: set[tuple[int, int]] = set()
    for e in graph.edges:
        source, target = case.number(e.source), case.number(e.target)
        if e.relation in SATELLITE_SOURCE:
            pairs.add((target, source))
        elif e.relation in LEADING_SOURCE:
            pairs.add((source, target))
    return pairs


def _before(table: UnitTable, leads: set[tuple[int, int]], a: int, b: int) -> bool:
    left, right = table.units[a], table.units[b]
    if left.chunk == right.chunk:
        return left.satellite_depth < right.satellite_depth
    return (left.chunk, right.chunk) in leads


def _cite(table: UnitTable, i: int) -> str:
    unit, last = table.units[i], table.units[table.group(i)[-1]]
    return f"[{unit.chunk}.{unit.number}]" if last is unit else f"[{unit.chunk}.{unit.number}-{last.number}]"


def _opposes(selection: Selection, i: int) -> bool:
    return any(i in pair for pair in selection.opposed)


def _counterparts(selection: Selection, i: int, told: set[int]) -> list[int]:
    others = [b if a == i else a for a, b in selection.opposed if i in (a, b)]
    return [j for j in dict.fromkeys(others) if j not in told]


def _is_background(case: Case, graph: RhetoricalGraph, table: UnitTable, i: int) -> bool:
    if not cues.DEFINITION.search(table.units[i].text):
        return False
    chunk = case.chunks[table.units[i].chunk - 1].id
    return any(e.source == chunk and e.relation is ChunkRelation.BACKGROUND_FOR for e in graph.edges)


def _verdict(case: Case, graph: RhetoricalGraph, table: UnitTable, i: int, j: int) -> str:
    pair = {case.chunks[table.units[i].chunk - 1].id, case.chunks[table.units[j].chunk - 1].id}
    relation = next(e.relation for e in graph.edges if e.disagrees and {e.source, e.target} == pair)
    return "contradicts it" if relation is ChunkRelation.CONTRADICTS else "holds under other conditions"
