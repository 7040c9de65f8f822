"""Statements: what passages say on a question, word for word, how these points relate, and the plan of an answer.

One JSON form for the state, the page and the API: each of the models here by pydantic. A person edits a plan as text
(`format_plan`, `parse_plan`), one step a line: ``1. answers: Vitamin D did not lower the risk {2}``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Self

from pydantic import BaseModel, Field, field_validator, model_validator

from discorag.schema.errors import InputError, InvariantError
from discorag.schema.values import Span


class StatementRole(StrEnum):
    """What a statement does for the question.

    ``answers``: it answers the question or a part of it. ``opposes``: it says otherwise than an answer, and other facts
    favour the answer. ``restricts``: it gives the condition, group, time or speaker for which an answer holds.
    ``backs``: a reader needs it to believe or understand an answer; or nothing answers, and it comes closest.
    ``namesake``: it is about another thing of the same name, which the question less likely means. Values that nothing
    decides between, and things that the question fits equally, are all ``answers``.
    """

    ANSWERS = "answers"
    OPPOSES = "opposes"
    RESTRICTS = "restricts"
    BACKS = "backs"
    NAMESAKE = "namesake"


class StatementRelationKind(StrEnum):
    """What the source statement is to the target statement.

    CONTRADICTS: both cannot be right; one of the role ``opposes`` is the less favoured. LIMITS: the source gives the
    condition, group, time or speaker for which the target holds. SUPPORTS: the source is evidence for the target.
    ANOTHER: the source is about another thing of the same name. CAUSES: the source brings the target about. REPLACES:
    the source is newer, and the target no longer holds. EXEMPLIFIES: the source is an example of the target.
    """

    CONTRADICTS = "CONTRADICTS"
    LIMITS = "LIMITS"
    SUPPORTS = "SUPPORTS"
    ANOTHER = "ANOTHER"
    CAUSES = "CAUSES"
    REPLACES = "REPLACES"
    EXEMPLIFIES = "EXEMPLIFIES"


CONFLICTS = frozenset(
    {StatementRelationKind.CONTRADICTS, StatementRelationKind.REPLACES, StatementRelationKind.ANOTHER}
)
"""The relations of sources that conflict or share a name."""


class Quotation(BaseModel, frozen=True):
    """Words of a passage.

    Args:
        passage: One-based number of the passage among those of the question.
        chunk_id: The chunk that the passage is.
        text: The document's words; an ellipsis stands where words between two spans are left out.
        spans: Where they are, in offsets of the document's canonical text, in order.
        title: The document's title, preceded by the end of its path if another document has the same title.
    """

    passage: int = Field(ge=1)
    chunk_id: str
    text: str = Field(min_length=1)
    spans: tuple[Span, ...] = Field(min_length=1)
    title: str = ""


class Statement(BaseModel, frozen=True):
    """One distinct point that passages make; passages that say the same are quotations of one statement."""

    number: int = Field(ge=1)
    says: str = Field(min_length=1)
    quotations: tuple[Quotation, ...] = Field(min_length=1)
    role: StatementRole = StatementRole.ANSWERS

    @property
    def passages(self) -> tuple[int, ...]:
        """The numbers of the passages that it quotes, each once."""
        return tuple(dict.fromkeys(q.passage for q in self.quotations))


class StatementRelation(BaseModel, frozen=True):
    """How statement ``source`` relates to statement ``target`` (numbers); ``about`` says in what."""

    source: int
    relation: StatementRelationKind
    target: int
    about: str = ""

    def joining(self, source: int, target: int) -> Self:
        """The same relation between other statements."""
        return self.model_copy(update={"source": source, "target": target})


class Dropped(BaseModel, frozen=True):
    """How many parts of a model's reply were not used, because they name or quote what does not exist.

    ``moved`` counts quotations that are used, but are words of another passage than the reply says.
    """

    quotations: int = 0
    statements: int = 0
    relations: int = 0
    steps: int = 0
    moved: int = 0

    def __add__(self, other: "Dropped") -> "Dropped":
        return Dropped(**{k: getattr(self, k) + getattr(other, k) for k in type(self).model_fields})


class StatementGraph(BaseModel, frozen=True):
    """The statements on a question, numbered from 1, and their relations.

    ``missing`` says what is asked and no passage says; it is empty if nothing is.

    Raises:
        InvariantError: The numbers do not count from 1. Or a relation names an unknown statement, joins a statement to
            itself, or repeats a pair (pydantic raises it as ``ValidationError``).
    """

    statements: tuple[Statement, ...] = ()
    relations: tuple[StatementRelation, ...] = ()
    missing: str = ""
    dropped: Dropped = Dropped()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if [s.number for s in self.statements] != list(range(1, len(self.statements) + 1)):
            raise InvariantError("Statements are numbered from 1, in order.")
        pairs: set[tuple[int, int]] = set()
        for r in self.relations:
            if not {r.source, r.target} <= self.by_number.keys():
                raise InvariantError(f"Relation {r.source} -> {r.target} names a statement that is not in the graph.")
            if r.source == r.target or (r.source, r.target) in pairs:
                raise InvariantError(f"Relation {r.source} -> {r.target} is a loop or appears twice.")
            pairs.add((r.source, r.target))
        return self

    @cached_property
    def by_number(self) -> Mapping[int, Statement]:
        """The statements by their numbers."""
        return {s.number: s for s in self.statements}

    @cached_property
    def in_conflict(self) -> frozenset[int]:
        """The numbers of the statements that conflict or share a name with others."""
        roles = {StatementRole.OPPOSES, StatementRole.NAMESAKE}
        related = {n for r in self.relations if r.relation in CONFLICTS for n in (r.source, r.target)}
        return frozenset(related | {s.number for s in self.statements if s.role in roles})

    @property
    def has_conflict(self) -> bool:
        """Whether sources conflict or share a name."""
        return bool(self.in_conflict)


class PlanStep(BaseModel, frozen=True):
    """One step of an answer: the statements that it tells, what they do for the question, and a line that says it."""

    statements: tuple[int, ...] = Field(min_length=1)
    role: StatementRole = StatementRole.ANSWERS
    text: str = Field(min_length=1)

    @field_validator("text")
    @classmethod
    def _one_line(cls, text: str) -> str:
        return " ".join(text.split())


class StatementPlan(BaseModel, frozen=True):
    """The steps of an answer, in order."""

    steps: tuple[PlanStep, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The statements that it uses, each once, in order."""
        return tuple(dict.fromkeys(n for step in self.steps for n in step.statements))


def plan_in_order(graph: StatementGraph, order: Sequence[Sequence[int]]) -> StatementPlan:
    """The plan that tells statements in this order; each inner sequence is one step."""
    steps = ([graph.by_number[n] for n in numbers] for numbers in order)
    return StatementPlan(
        steps=tuple(
            PlanStep(statements=tuple(s.number for s in step), role=step[0].role, text=_text_of(step)) for step in steps
        )
    )


def _text_of(statements: Sequence[Statement]) -> str:
    return "; ".join(s.says.strip(" .") or s.says for s in statements)


def format_plan(plan: StatementPlan) -> str:
    """The plan as a person reads and edits it, one step a line."""
    lines = (f"{step.role}: {step.text} {{{', '.join(map(str, step.statements))}}}" for step in plan.steps)
    return "\n".join(f"{i}. {line}" for i, line in enumerate(lines, start=1))


_STEP = re.compile(r"(?:\d+[.)]\s+)?(?P<role>\w+)\s*[:：](?P<text>.*?)\{(?P<numbers>[0-9,，、;\s]*)\}")
_FORM = "Write each step as '1. answers: what it says {2}', with the numbers of its statements in braces."


_NUMBERS = re.compile(r"\{\s*\d[0-9,，、;\s]*\}\s*$", re.MULTILINE)


def names_statements(plan: str) -> bool:
    """Whether a plan has a line in the form of `format_plan`; otherwise it is free text."""
    return bool(_NUMBERS.search(plan))


def parse_plan(text: str, graph: StatementGraph) -> StatementPlan:
    """The plan that a person wrote, in the form of `format_plan`.

    Blank lines and the numbers of the lines do not count. A step without text says what its statements say.

    Raises:
        InputError: A line is not a step, or names a role or a statement that does not exist. The message names it.
    """
    return StatementPlan(steps=tuple(_steps(text, graph)))


def _steps(text: str, graph: StatementGraph) -> Iterator[PlanStep]:
    for at, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield _step(line.strip(), f"Line {at} of the plan", graph)


def _step(line: str, where: str, graph: StatementGraph) -> PlanStep:
    match = _STEP.fullmatch(line)
    if match is None or not (numbers := [int(n) for n in re.findall(r"\d+", match["numbers"])]):
        raise InputError(f"{where} cannot be read: {line[:200]!r}.", hint=_FORM)
    if match["role"].lower() not in set(StatementRole):
        raise InputError(
            f"{where} has the unknown role {match['role'][:60]!r}.", hint=f"Roles: {', '.join(StatementRole)}."
        )
    if unknown := [n for n in numbers if n not in graph.by_number]:
        known = (
            f"There are statements 1 to {len(graph.statements)}." if graph.statements else "There are no statements."
        )
        raise InputError(f"{where} names statement {unknown[0]}, which does not exist.", hint=known)
    text = match["text"].strip() or _text_of([graph.by_number[n] for n in numbers])
    return PlanStep(statements=tuple(dict.fromkeys(numbers)), role=StatementRole(match["role"].lower()), text=text)
