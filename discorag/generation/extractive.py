"""The extractive answer: selected sentences in plan order, word for word, each with its citation; or an abstention.

Nothing is changed in a sentence of a source, and no connective is put before it: how sentences relate is in the plan.
"""

from discorag.generation.relevance import Floats
from discorag.generation.selection import Selector
from discorag.ingest.segment.layout import NOTE
from discorag.ingest.segment.sentence_table import Sentence, SentenceTable
from discorag.schema.answer import Answer, AnswerInputs, EvidenceSpan, Outcome
from discorag.schema.discourse import Plan, Reference
from discorag.schema.document import UnitKind
from discorag.text.citations import escape_references, steps, with_citation

_ANNOUNCES = (":", "：")


async def extract_answer(inputs: AnswerInputs, selector: Selector) -> Outcome[str]:
    """One cited sentence a line: in plan order; by relevance without a plan, or when the plan cites nothing.

    Empty if no unit is a statement.
    """
    table, relevance = await selector.rank(inputs)
    order = resolve(inputs.plan, table, relevance.logits) if inputs.plan else []
    if not order:
        table, selection = await selector.select(inputs)
        order = [j for i in selection.indices for j in table.group(i)]
    return Outcome(value="\n".join(_sentences(table, with_lead_ins(table, order))))


def with_lead_ins(table: SentenceTable, order: list[int]) -> list[int]:
    """The sentences in order, each right after those that introduce it, outermost first; none twice."""
    found: list[int] = []
    for i in order:
        for j in [*_lead_ins(table, i), i]:
            if j not in found:
                found.append(j)
    return found


def _lead_ins(table: SentenceTable, i: int) -> list[int]:
    """The sentences before code, the lead-ins of a list, what a note is on; a table's header is read with its rows."""
    unit = table.sentences[i]
    if unit.lead is None:
        return []
    lead = table.sentences[unit.lead]
    introduces = unit.kind is UnitKind.CODE or lead.text.endswith(_ANNOUNCES) or NOTE.match(unit.text)
    if not introduces or lead.kind is UnitKind.HEADER:
        return []
    return [*_lead_ins(table, unit.lead), unit.lead]


def resolve(plan: Plan, table: SentenceTable, relevance: Floats) -> list[int]:
    """Indices of the units that a plan cites, in its order, each once.

    A reference to a whole chunk means its most relevant statement not used yet; one that does not exist is passed over.
    """
    order: list[int] = []
    for step in steps(plan):
        for reference in step.references:
            order += [i for i in _resolve(reference, table, relevance, order) if i not in order]
    return order


def _resolve(reference: Reference, table: SentenceTable, relevance: Floats, used: list[int]) -> list[int]:
    if reference.first is None:
        free = [i for i in table.of_chunk(reference.chunk) if table.sentences[i].statement and i not in used]
        return sorted(free, key=lambda i: -float(relevance[i]))[:1]
    last = min(reference.last or reference.first, len(table.of_chunk(reference.chunk)))
    indices = (table.index(reference.chunk, n) for n in range(reference.first, last + 1))
    return [i for i in indices if i is not None and table.sentences[i].kind is not UnitKind.FURNITURE]


def _sentences(table: SentenceTable, order: list[int]) -> list[str]:
    """Each unit in its passage with its citation, and with its prefix unless the unit before it has the same.

    What an earlier line quotes is not quoted again.
    """
    lines, quoted = list[str](), set[int]()
    before: Sentence | None = None
    for i in order:
        if i in quoted:
            continue
        unit, whole = table.sentences[i], table.passage(i)
        passage = range(max((j + 1 for j in whole if j < i and j in quoted), default=whole.start), whole.stop)
        is_same = before is not None and (before.chunk, before.prefix) == (unit.chunk, unit.prefix)
        text = escape_references(("" if is_same else unit.shown_prefix) + table.quote(passage))
        lines.append(with_citation(text, f"[{unit.chunk}.{unit.number}]"))
        quoted.update(passage)
        before = unit
    return lines


MAX_NEAREST = 3
"""Passages shown with a refusal."""


async def abstain_from(inputs: AnswerInputs, selector: Selector, reason: str) -> Answer:
    """An answer without sentences, for this reason, with those closest to the question. Raises as `Selector.rank`."""
    table, relevance = await selector.rank(inputs)
    closest = [
        EvidenceSpan.of(inputs.chunks[unit.chunk - 1], unit.span)
        for unit in (table.sentences[i] for i in relevance.ranked)
        if not inputs.chunks[unit.chunk - 1].stands_for  # a summary has no place in a document
    ]
    return Answer(query=inputs.query, sentences=(), abstained=reason, nearest=tuple(closest[:MAX_NEAREST]))
