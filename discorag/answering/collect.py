"""relate and plan with a language model: the statements of all passages, in one call or in batches that are merged."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, cast

from discorag.answering.json_replies import ItemStream, json_object, whole_items
from discorag.answering.passages import passage_blocks
from discorag.answering.reader import ReaderModel, question_block
from discorag.answering.statements import (
    MOST_STATEMENTS,
    Collected,
    StatementReader,
    dicts_of,
    each_pair_once,
    line_of,
    merge_schema,
    number_of,
    numbers_of,
    read_order,
    read_relations,
    read_statements,
    renumber,
    statements_schema,
    with_role,
)
from discorag.generation.narrowing import narrow
from discorag.generation.prompted.prose import outcome_of
from discorag.models.protocol import Reply
from discorag.schema.answer import AnswerInputs, Outcome
from discorag.schema.document import Chunk
from discorag.schema.errors import ContextTooLongError, ModelError, Usage
from discorag.schema.ledger import Failure
from discorag.schema.statements import (
    Dropped,
    Statement,
    StatementGraph,
    StatementRelation,
    plan_in_order,
)
from discorag.text.fences import fence_name

STAGE, MERGE_STAGE = "relate", "merge"
ONLY_STATEMENTS = "Reply with one JSON object on one line and nothing else:"
"""What a prompt says before the form of a reply that is one JSON object."""
_FORMS = {
    "relations": ' "relations": [{"from": 2, "relation": "LIMITS", "to": 1, "about": "..."}],',
    "order": ' "order": [[1], [2, 3]],',
}
"""The form of each part of a reply that can be left out (`ReaderModel.structure`)."""
_SHOWN_QUOTATION = 160
"""Characters of the quotation that a statement is merged by."""
_LEAST_ROOM = 128
"""Tokens for passages: with less in a call, a question would take hundreds of calls."""

Show = Callable[[Statement], None]
"""Receives a statement as soon as the model has written it."""


def ignore(statement: Statement) -> None:
    """Show nothing."""


Passage = tuple[int, Chunk]
"""A passage, or a part of a long one, with its number."""


@dataclass(frozen=True)
class _Lost:
    """Passages that could not be read, by their numbers, and why."""

    numbers: list[int]
    error: ModelError

    @property
    def failure(self) -> Failure:
        """What is used instead."""
        rest = f"the other passages, without {self.numbers[0]} to {self.numbers[-1]}"
        return Failure.of(STAGE, self.error, fallback=rest)


async def collect_statements(inputs: AnswerInputs, reader: ReaderModel, show: Show = ignore) -> Outcome[Collected]:
    """The statements on the question, their relations and the plan.

    One call reads all passages if they fit the model's context. Otherwise batches are read in parallel, and further
    calls merge what they say. A passage that is longer than the context is read in parts. If the server counts more
    tokens than we do and refuses a batch, its halves are read. A batch that fails is left out and reported. ``show`` is
    called with each statement as soon as the model has written it; after a repair or a merge it may be missing or have
    another number.

    Raises:
        ModelError: The call failed, or all of the batches did.
    """
    tasks = [_read(inputs, reader, batch, show) for batch in await _plan_batches(inputs, reader)]
    results = list(chain.from_iterable(await asyncio.gather(*tasks)))
    found = [result for result in results if isinstance(result, Outcome)]
    lost = [result for result in results if isinstance(result, _Lost)]
    if lost and not found:
        raise lost[0].error
    merged = await _merge_all(inputs, reader, found)
    merged = replace(merged, usage=sum((one.error.usage or Usage() for one in lost), merged.usage))
    return _counted(merged, [one.failure for one in lost], batches=len(results))


def _counted(outcome: Outcome[Collected], failures: Sequence[Failure], batches: int) -> Outcome[Collected]:
    """The outcome with the figures for the ledger."""
    counts = {"batches": batches, **outcome.value.counts()}
    return replace(outcome, counts=counts, failures=(*outcome.failures, *failures))


async def _plan_batches(inputs: AnswerInputs, reader: ReaderModel) -> list[list[Passage]]:
    """The passages of each call: one batch if all fit the context, else as few as possible, of similar size.

    Raises:
        ContextTooLongError: The question and what is asked for leave no room for passages.
    """
    room = await reader.room(statements_prompt(inputs, reader, []), await reader.statement_limit())
    if room < _LEAST_ROOM:
        context = await reader.model.context_tokens()
        raise ContextTooLongError(f"A context of {context} tokens has no room for passages next to the question.")
    whole = enumerate(inputs.chunks, start=1)
    passages = [part for passage in whole for part in _in_parts(passage, reader, room)]
    sizes = reader.count(passage_blocks([chunk for _, chunk in passages]))
    fewest = max(1, -(-sum(sizes) // room))
    limit = min(room, -(-sum(sizes) // fewest) + max(sizes, default=0))
    return [[passages[at] for at in batch] for batch in _packed(sizes, limit)]


def _in_parts(passage: Passage, reader: ReaderModel, room: int) -> list[Passage]:
    """A passage that fits the room, or parts of it that do, as far as its sentences do."""
    halves = _halves([passage]) if reader.count(passage_blocks([passage[1]]))[0] > room else []
    return [part for half in halves for part in _in_parts(half[0], reader, room)] or [passage]


def _halves(batch: Sequence[Passage]) -> list[Sequence[Passage]]:
    """Two halves of a batch, or of the sentences of its only passage; none of a single sentence."""
    middle = len(batch) // 2
    if middle:
        return [batch[:middle], batch[middle:]]
    number, chunk = batch[0]
    middle = len(chunk.sentences) // 2
    parts = (chunk.sentences[:middle], chunk.sentences[middle:]) if middle else ()
    return [[(number, narrow(chunk, sentences))] for sentences in parts]


def _packed(sizes: Sequence[int], room: int, *, least: int = 1) -> list[list[int]]:
    """The positions of ``sizes`` in order, in groups that fit the room; ``least`` in a group even if they do not."""
    groups, used = list[list[int]](), 0
    for at, size in enumerate(sizes):
        if not groups or (len(groups[-1]) >= least and used + size > room):
            groups.append([])
            used = 0
        groups[-1].append(at)
        used += size
    return groups


def statements_prompt(
    inputs: AnswerInputs, reader: ReaderModel, passages: Sequence[Passage], form: str = ONLY_STATEMENTS
) -> str:
    """The prompt that asks for the statements of these passages; ``form`` introduces the form of the object."""
    blocks = passage_blocks([chunk for _, chunk in passages], [number for number, _ in passages])
    parts = reader.structure
    return reader.prompt("statements").render(
        question=question_block(inputs),
        passages="\n\n".join(blocks),
        count=str(len(blocks)),
        most=str(MOST_STATEMENTS),
        reply=form,
        form="".join(_FORMS[part] for part in parts),
        parts="".join(f"{reader.prompt(f'statements-{part}').render()}\n\n" for part in parts),
    )


async def _read(
    inputs: AnswerInputs, reader: ReaderModel, batch: Sequence[Passage], show: Show
) -> list[Outcome[Collected] | _Lost]:
    """What a batch says, or the halves of one that the server refuses because of its length."""
    try:
        return [await _collect_batch(inputs, reader, batch, show)]
    except ModelError as error:
        halves = _halves(batch) if isinstance(error, ContextTooLongError) else []
        if not halves:
            return [_Lost([number for number, _ in batch], error)]
    found = await asyncio.gather(*(_read(inputs, reader, half, show) for half in halves))
    return list(chain.from_iterable(found))


async def _collect_batch(
    inputs: AnswerInputs, reader: ReaderModel, batch: Sequence[Passage], show: Show
) -> Outcome[Collected]:
    numbers, chunks = [number for number, _ in batch], [chunk for _, chunk in batch]
    prompt, limit = statements_prompt(inputs, reader, batch), await reader.statement_limit()

    def checked(text: str) -> str:
        read_statements(text, chunks, numbers)
        return text

    request = reader.request(STAGE, prompt, checked, limit)
    request = replace(
        request,
        schema=statements_schema(len(inputs.chunks), reader.structure),
        cut=partial(whole_items, key="statements"),
    )
    early, reply = StatementsAsTheyCome(chunks, numbers, show), None
    async for part in reader.model.stream(request):
        if isinstance(part, Reply):
            reply = part
        else:
            early.push(part)
    assert reply is not None  # a stream ends with its reply
    return outcome_of(STAGE, reply).holding(read_statements(reply.value, chunks, numbers))


class StatementsAsTheyCome:
    """Shows the statements in a reply that comes in pieces."""

    def __init__(self, chunks: Sequence[Chunk], numbers: Sequence[int] | None, show: Show) -> None:
        self._items, self._reader, self._show = ItemStream("statements"), StatementReader.over(chunks, numbers), show

    def push(self, piece: str) -> None:
        """Show the statements that ``piece`` completes."""
        for statement in map(self._reader.statement, dicts_of(self._items.push(piece))):
            if statement:
                self._show(statement)


# --- merging --------------------------------------------------------------------------------------


async def _merge_all(
    inputs: AnswerInputs, reader: ReaderModel, found: Sequence[Outcome[Collected]]
) -> Outcome[Collected]:
    """One outcome of several: as many as fit one call are merged at a time, until one is left."""
    spent = sum((outcome.usage for outcome in found), Usage())
    failures = list(chain.from_iterable(outcome.failures for outcome in found))
    level, last = [outcome.value for outcome in found], found[0] if len(found) == 1 else None
    while len(level) > 1:
        groups = await _groups(inputs, reader, level)
        merged = await asyncio.gather(*(_merge(inputs, reader, group) for group in groups))
        spent = sum((outcome.usage for outcome in merged), spent)
        failures += chain.from_iterable(outcome.failures for outcome in merged)
        level, last = [outcome.value for outcome in merged], merged[0]
    if last is None:
        return Outcome(value=Collected(), usage=spent)
    return replace(last, usage=spent, failures=tuple(failures))


async def _groups(inputs: AnswerInputs, reader: ReaderModel, level: Sequence[Collected]) -> list[list[Collected]]:
    """The groups that are merged in one call each: at least two at a time, so that the number of groups falls."""
    room = await _merge_room(inputs, reader)
    sizes = [sum(reader.count([_line(s) for s in c.graph.statements])) for c in level]
    return [[level[at] for at in group] for group in _packed(sizes, room, least=2)]


async def _merge_room(inputs: AnswerInputs, reader: ReaderModel) -> int:
    return await reader.room(_merge_prompt(inputs, reader, []), await reader.statement_limit())


async def _merge(inputs: AnswerInputs, reader: ReaderModel, group: Sequence[Collected]) -> Outcome[Collected]:
    """The statements of a group put together by one call; a group of one needs none."""
    if len(group) == 1:
        return Outcome(value=group[0])
    room = await _merge_room(inputs, reader) // len(group)
    joined = _joined([_shortened(collected, reader, room) for collected in group])
    prompt = _merge_prompt(inputs, reader, joined.graph.statements)
    request = reader.request(MERGE_STAGE, prompt, lambda text: _merged(text, joined), await reader.statement_limit())
    request = replace(request, schema=merge_schema(len(joined.graph.statements)))
    try:
        return outcome_of(MERGE_STAGE, await reader.model.complete(request))
    except ModelError as error:
        failure = Failure.of(MERGE_STAGE, error, fallback="the statements as they were found")
        kept = renumber(joined, [*joined.plan.numbers][:MOST_STATEMENTS])
        return Outcome(value=kept, usage=error.usage or Usage(), failures=(failure,))


def _merge_prompt(inputs: AnswerInputs, reader: ReaderModel, statements: Sequence[Statement]) -> str:
    lines = [_line(s) for s in statements]
    tag = fence_name("statements", lines)
    return reader.prompt("merge-statements").render(
        question=question_block(inputs),
        statements="\n".join([f"<{tag}>", *lines, f"</{tag}>"]),
        most=str(MOST_STATEMENTS),
    )


def _line(statement: Statement) -> str:
    cited = "".join(f"[{n}]" for n in statement.passages)
    quoted = " ".join(statement.quotations[0].text.split())
    shown = quoted if len(quoted) <= _SHOWN_QUOTATION else quoted[:_SHOWN_QUOTATION] + "…"
    return f"{statement.number}. ({statement.role}) {statement.says} {cited} “{shown}”"


def _shortened(collected: Collected, reader: ReaderModel, room: int) -> Collected:
    """The statements that fit, those of the plan first; the others are dropped and counted."""
    statements = collected.graph.by_number
    ranked = list(dict.fromkeys([*collected.plan.numbers, *statements]))
    sizes = reader.count([_line(statements[n]) for n in ranked])
    kept = [n for i, n in enumerate(ranked) if sum(sizes[: i + 1]) <= room]
    return collected if len(kept) == len(statements) else renumber(collected, kept)


def _joined(group: Sequence[Collected]) -> Collected:
    """All statements, numbered through."""
    statements, relations, order, dropped = list[Statement](), list[StatementRelation](), list[list[int]](), Dropped()
    for collected in group:
        before = len(statements)
        statements += [s.model_copy(update={"number": before + s.number}) for s in collected.graph.statements]
        relations += [r.joining(before + r.source, before + r.target) for r in collected.graph.relations]
        order += [[before + n for n in step.statements] for step in collected.plan.steps]
        dropped += collected.graph.dropped
    graph = StatementGraph(statements=tuple(statements), relations=tuple(relations), dropped=dropped)
    return Collected(graph, plan_in_order(graph, order))


def _merged(text: str, joined: Collected) -> Collected:
    """The statements of the merged plan, with the relations of the batches and of the merging reply.

    Raises:
        ValueError: The reply names no statement in its plan.
    """
    reply = json_object(text, "order")
    statements, stands_for = _same_joined(joined.graph.by_number, reply.get("same"))
    for item in dicts_of(reply.get("roles")):
        if number := stands_for.get(number_of(item.get("id")) or 0):
            statements[number] = with_role(statements[number], item.get("role"))
    new, lost = read_relations(reply.get("relations"), stands_for)
    order, astray = read_order(reply.get("order"), stands_for)
    if joined.graph.statements and not order:
        raise ValueError('"order" names no statement. It is a list of lists of statement numbers.')
    old = (r.joining(stands_for[r.source], stands_for[r.target]) for r in joined.graph.relations)
    graph = StatementGraph.model_construct(
        statements=tuple(statements.values()),
        relations=each_pair_once([*new, *old]),
        missing=line_of(reply.get("missing")),
        dropped=joined.graph.dropped + Dropped(relations=lost, steps=astray),
    )
    return renumber(Collected(graph, plan_in_order(graph, order)), chain.from_iterable(order))


def _same_joined(statements: Mapping[int, Statement], same: Any) -> tuple[dict[int, Statement], dict[int, int]]:
    """The statements, those that say the same as one with the quotations of all; and the number that each now has."""
    kept, stands_for = dict(statements), {n: n for n in statements}
    for group in cast("list[Any]", same) if isinstance(same, list) else []:
        named = [stands_for[n] for n in numbers_of(group) if n in stands_for]
        for other in list(dict.fromkeys(named))[1:]:
            added = kept.pop(other)
            quotations = dict.fromkeys((*kept[named[0]].quotations, *added.quotations))
            kept[named[0]] = kept[named[0]].model_copy(update={"quotations": tuple(quotations)})
            stands_for |= {n: named[0] for n, number in stands_for.items() if number == other}
    return kept, stands_for
