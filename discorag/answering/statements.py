"""The statements that a model writes: the JSON form that it is asked for, and the part of its reply that is used.

A reply is read tolerantly, because models write the same in many forms. It is validated strictly: a quotation that no
passage has is dropped, and with it each statement without quotations, and each relation or step that names one of
those. All of it is counted.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self, cast

from discorag.answering.json_replies import json_object
from discorag.answering.passages import CONTINUES, continued_line
from discorag.answering.quotations import fold, locate
from discorag.schema.document import Chunk
from discorag.schema.statements import (
    Dropped,
    Quotation,
    Statement,
    StatementGraph,
    StatementPlan,
    StatementRelation,
    StatementRelationKind,
    StatementRole,
    plan_in_order,
)
from discorag.schema.values import Span
from discorag.text.escaping import one_line

MOST_STATEMENTS = 14
"""How many statements an overview may have; a plan has as many at most."""
MOST_QUOTATIONS = 3
LONGEST_SAYS = 400
"""Characters of what a statement says; about four times the length that a model is asked for."""
_SHOWN = 80
"""Characters of a quotation in an error."""
_ELLIPSIS = " … "
_ROLES = {
    "answer": StatementRole.ANSWERS,
    "contradicts": StatementRole.OPPOSES,
    "limits": StatementRole.RESTRICTS,
    "supports": StatementRole.BACKS,
    "another": StatementRole.NAMESAKE,
    "other": StatementRole.NAMESAKE,
}


@dataclass(frozen=True)
class Collected:
    """The statements on a question, their relations, and the plan, before the answer is written."""

    graph: StatementGraph = field(default_factory=StatementGraph)
    plan: StatementPlan = field(default_factory=StatementPlan)

    def counts(self) -> dict[str, int]:
        """The figures for the ledger."""
        graph = self.graph
        dropped = graph.dropped.model_dump(exclude={"moved"})
        return {
            "statements": len(graph.statements),
            "relations": len(graph.relations),
            "quotations": sum(len(s.quotations) for s in graph.statements),
            "steps": len(self.plan.steps),
            **{f"dropped_{name}": n for name, n in dropped.items() if n},
        }


@cache
def statements_schema(passages: int, structure: tuple[str, ...] = ("relations", "order")) -> dict[str, Any]:
    """The JSON schema of a reply with statements of so many passages, and with these parts of their structure."""
    number, text = {"type": "integer", "minimum": 1}, {"type": "string"}
    quotation = object_schema({"passage": {**number, "maximum": passages}, "text": text})
    statement = object_schema(
        {
            "id": number,
            "says": text,
            "role": {"type": "string", "enum": [r.value for r in StatementRole]},
            "quotations": list_schema(quotation, MOST_QUOTATIONS),
        }
    )
    parts = {name: part for name, part in _structure().items() if name in (*structure, "missing")}
    return object_schema({"statements": list_schema(statement, MOST_STATEMENTS), **parts})


def _structure() -> dict[str, Any]:
    """The parts of a reply that name statements."""
    return {
        "relations": list_schema(_relation_schema(), 2 * MOST_STATEMENTS),
        "order": list_schema(list_schema({"type": "integer", "minimum": 1}, MOST_STATEMENTS), MOST_STATEMENTS),
        "missing": {"type": "string"},
    }


@cache
def merge_schema(statements: int) -> dict[str, Any]:
    """The JSON schema of a reply that puts so many statements of several replies together."""
    number = {"type": "integer", "minimum": 1}
    role = object_schema({"id": number, "role": {"type": "string", "enum": [r.value for r in StatementRole]}})
    same = list_schema(list_schema(number, MOST_STATEMENTS), statements)
    return object_schema({"same": same, "roles": list_schema(role, statements), **_structure()})


def _relation_schema() -> dict[str, Any]:
    """One relation between statements."""
    number, text = {"type": "integer", "minimum": 1}, {"type": "string"}
    names = {"type": "string", "enum": [r.value for r in StatementRelationKind]}
    return object_schema({"from": number, "relation": names, "to": number, "about": text})


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_schema(items: dict[str, Any], most: int) -> dict[str, Any]:
    """The JSON schema of a list with so many items at most."""
    return {"type": "array", "items": items, "maxItems": most}


def read_statements(text: str, chunks: Sequence[Chunk], numbers: Sequence[int] | None = None) -> Collected:
    """The statements, relations and plan in a reply.

    Args:
        text: The reply.
        chunks: The passages that the model read.
        numbers: Their numbers; from 1, unless given.

    Raises:
        ValueError: The reply has no statements in the form asked for, or no passage has any of its quotations. The
            message tells the model what to change.
    """
    reply = json_object(text, "statements")
    reader = StatementReader.over(chunks, numbers)
    items = dicts_of(reply["statements"])
    if not items and reply["statements"]:
        raise ValueError('"statements" is a list of objects with "id", "says", "role" and "quotations".')
    statements = dict[int, Statement]()
    for position, item in enumerate(items, start=1):
        key = number_of(item.get("id")) or position
        if statement := reader.statement(item):
            statements[-position if key in statements else key] = statement  # a second one cannot be named
    if items and not statements:
        refusal = 'No passage has any of the quotations. Copy each "text" from its passage word for word.'
        raise ValueError(refusal + reader.said_missing)
    return reader.collected(reply, statements)


@dataclass
class StatementReader:
    """Reads one reply over passages, by their numbers, and counts what it drops."""

    passages: dict[int, Chunk]
    dropped: Dropped = field(default_factory=Dropped)
    made: int = 0
    not_found: list[str] = field(default_factory=list[str])

    @classmethod
    def over(cls, chunks: Sequence[Chunk], numbers: Sequence[int] | None = None) -> Self:
        """A reader for these passages, numbered from 1 unless numbers are given."""
        return cls(dict(zip(numbers or range(1, len(chunks) + 1), chunks, strict=True)))

    @property
    def said_missing(self) -> str:
        """A sentence with the first quotations that no passage has; empty if there are none."""
        shown = ", ".join(f'"{one_line(words, _SHOWN)}"' for words in self.not_found[:MOST_QUOTATIONS])
        return f" Not found: {shown}." if shown else ""

    def count(self, **more: int) -> None:
        """Count what was dropped."""
        self.dropped += Dropped(**more)

    def statement(self, item: dict[str, Any]) -> Statement | None:
        """A statement under the number that it will have; None if nothing that it quotes is found."""
        says = " ".join(str(item.get("says") or item.get("statement") or "").split())[:LONGEST_SAYS]
        given = _quoted(item.get("quotations") or item.get("quotes") or [])
        quotations = tuple(q for quoted in given if (q := self.quotation(quoted)))
        self.count(quotations=len(given) - len(quotations))
        if not says or not quotations:
            self.count(statements=1)
            return None
        self.made += 1
        role = _role(item.get("role"))
        unique = tuple(dict.fromkeys(quotations))[:MOST_QUOTATIONS]
        return Statement(number=self.made, says=says, quotations=unique, role=role)

    def quotation(self, quoted: dict[str, Any]) -> Quotation | None:
        """The quotation where the reply says that it is, else in the first passage that has it."""
        words, named = str(quoted.get("text") or quoted.get("quote") or ""), number_of(quoted.get("passage"))
        others = [n for n in self.passages if n != named]
        for number in [named, *others] if named in self.passages else others:
            assert number is not None
            if spans := _places(words, self.passages[number]):
                self.count(moved=int(number != named))
                return quotation_of(self.passages[number], number, spans)
        self.not_found += [words] if words.strip() else []
        return None

    def collected(self, reply: dict[str, Any], statements: dict[int, Statement]) -> Collected:
        """The graph and the plan; ``statements`` are by the ids that the reply gives them."""
        renumbered = {key: statement.number for key, statement in statements.items()}
        relations, lost = read_relations(reply.get("relations"), renumbered)
        order, astray = read_order(reply.get("order"), renumbered)
        self.count(relations=lost, steps=astray)
        graph = StatementGraph(
            statements=tuple(statements.values()),
            relations=relations,
            missing=line_of(reply.get("missing")),
            dropped=self.dropped,
        )
        return Collected(graph, plan_in_order(graph, order or [[n] for n in renumbered.values()]))


def _places(words: str, chunk: Chunk) -> tuple[Span, ...]:
    """Where the passage has the words, or what is left of them without the header row that is shown before it.

    A speaker stays: the rest of the words may stand in the turn of another one.
    """
    if (spans := locate(words, chunk.text)) or not (row := continued_line(chunk)).startswith("|"):
        return spans
    line, quoted = fold(row).text, words.strip().removeprefix(CONTINUES)
    folded = fold(quoted)
    return locate(quoted[folded.ends[len(line) - 1] :], chunk.text) if folded.text.startswith(line) else ()


def quotation_of(chunk: Chunk, number: int, spans: Sequence[Span]) -> Quotation:
    """The quotation of these places in a chunk, given in offsets of its text."""
    text = _ELLIPSIS.join(span.of(chunk.text) for span in spans)
    placed = tuple(span.shifted(chunk.span.start) for span in spans)
    return Quotation(passage=number, chunk_id=chunk.id, text=text, spans=placed, title=chunk.source or chunk.title)


def read_relations(given: Any, numbers: dict[int, int]) -> tuple[tuple[StatementRelation, ...], int]:
    """The relations between known statements, one for a pair, and how many were dropped.

    ``numbers`` are the statements' numbers by the ids that the reply gives them.
    """
    items = dicts_of(given)
    found = each_pair_once(r for item in items if (r := _read_relation(item, numbers)))
    return found, len(items) - len(found)


def _read_relation(item: dict[str, Any], numbers: dict[int, int]) -> StatementRelation | None:
    source, target = (numbers.get(number_of(item.get(end)) or 0) for end in ("from", "to"))
    name = str(item.get("relation") or "").strip().upper()
    if not source or not target or name not in StatementRelationKind.__members__:
        return None
    kind = StatementRelationKind(name)
    return StatementRelation(source=source, relation=kind, target=target, about=line_of(item.get("about")))


def each_pair_once(relations: Iterable[StatementRelation]) -> tuple[StatementRelation, ...]:
    """The first relation of every pair of different statements."""
    found: dict[frozenset[int], StatementRelation] = {}
    for r in relations:
        if r.source != r.target:
            found.setdefault(frozenset((r.source, r.target)), r)
    return tuple(found.values())


def read_order(given: Any, numbers: dict[int, int]) -> tuple[list[list[int]], int]:
    """The steps of known statements, each statement once, and how many entries were dropped."""
    steps, seen, entries = list[list[int]](), set[int](), 0
    for step in cast("list[Any]", given) if isinstance(given, list) else []:
        told = list[int]()
        for entry in numbers_of(step):
            entries += 1
            if (number := numbers.get(entry)) and number not in seen:
                seen.add(number)
                told.append(number)
        steps += [told] if told else []
    return steps, entries - len(seen)


def with_role(statement: Statement, given: Any) -> Statement:
    """The statement with another role, as a reply names it."""
    return statement.model_copy(update={"role": _role(given)})


def renumber(collected: Collected, kept: Iterable[int]) -> Collected:
    """The statements ``kept``, in this order and numbered from 1, with the relations and steps among them."""
    graph, numbers = collected.graph, {old: new for new, old in enumerate(dict.fromkeys(kept), start=1)}
    statements = tuple(graph.by_number[old].model_copy(update={"number": new}) for old, new in numbers.items())
    relations = tuple(
        r.joining(numbers[r.source], numbers[r.target])
        for r in graph.relations
        if r.source in numbers and r.target in numbers
    )
    gone = Dropped(statements=len(graph.statements) - len(statements))
    update = {"statements": statements, "relations": relations, "dropped": graph.dropped + gone}
    smaller = StatementGraph.model_validate(graph.model_copy(update=update).model_dump())
    steps = ([numbers[n] for n in step.statements if n in numbers] for step in collected.plan.steps)
    return replace(collected, graph=smaller, plan=plan_in_order(smaller, [step for step in steps if step]))


def _role(given: Any) -> StatementRole:
    name = str(given or "").strip().lower()
    return StatementRole(name) if name in set(StatementRole) else _ROLES.get(name, StatementRole.ANSWERS)


def number_of(given: Any) -> int | None:
    """The number in 3, "3", "[3]" or "passage 3"."""
    if isinstance(given, bool):
        return None
    if isinstance(given, int | float):
        return int(given) if given == given and abs(given) < 1e9 else None
    match = re.search(r"\d{1,6}", str(given or ""))
    return int(match[0]) if match else None


def line_of(given: Any) -> str:
    """A text on one line; "" for the words that models write for nothing."""
    text = " ".join(str(given or "").split())[:LONGEST_SAYS]
    return "" if text.strip("\"' .").lower() in {"", "none", "nothing", "null", "n/a"} else text


def dicts_of(given: Any) -> list[dict[str, Any]]:
    """The objects in a list, or the one that stands for it."""
    items = cast("list[Any]", given) if isinstance(given, list) else [given]
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _quoted(given: Any) -> list[dict[str, Any]]:
    """The quotations of a statement, which may be its words alone."""
    items = cast("list[Any]", given) if isinstance(given, list) else [given]
    return dicts_of([{"text": item} if isinstance(item, str) else item for item in items])


def numbers_of(given: Any) -> list[int]:
    """The numbers in a list or in a single entry."""
    items = cast("list[Any]", given) if isinstance(given, list) else [given]
    return [number for item in items if (number := number_of(item)) is not None]
