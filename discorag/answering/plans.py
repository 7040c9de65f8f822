"""The plan as the writing model reads it: one line per statement, its evidence, and what relates them."""

from collections.abc import Iterator, Mapping

from discorag.answering.statements import Collected
from discorag.schema.errors import InputError
from discorag.schema.statements import (
    PlanStep,
    StatementGraph,
    StatementRelation,
    StatementRelationKind,
    StatementRole,
    plan_in_order,
)
from discorag.verification.statements import shared_words

READING = (
    " A word in round brackets says what a statement does for the question: it opposes an answer that other facts "
    "favour, restricts an answer, backs one (or comes closest where none is given), or is about a namesake of what is "
    "asked about. All others answer it."
)
_NUMBERED_AGAIN = (
    "The language model was asked again, and may have numbered its statements otherwise. Turn on the cache of its "
    "replies (DISCO_RAG_LLM__CACHE), edit the plan of a stopped run (the option review), or correct the number."
)
_RELATIONS = {
    StatementRelationKind.LIMITS: "{} says when, where or for whom {} holds",
    StatementRelationKind.SUPPORTS: "{} is a reason to believe {}",
    StatementRelationKind.ANOTHER: "{} and {} are about different things of the same name",
    StatementRelationKind.CAUSES: "{} brings about {}",
    StatementRelationKind.REPLACES: "{} is newer than {}, which no longer holds",
    StatementRelationKind.EXEMPLIFIES: "{} is an example of {}",
}


def plan_block(collected: Collected, sources: Mapping[int, str]) -> str:
    """The plan with the words on which it rests; with relations where sources conflict or share a name.

    A statement is named by its step: ``2`` if it is alone there, else ``2.1``, ``2.2`` and so on. ``sources`` names the
    sources of passages, by their numbers, that the model reads nowhere else.
    """
    names, lines = _names(collected), list[str]()
    for at, step in enumerate(collected.plan.steps, start=1):
        lines += _step_lines(at, step, collected.graph, sources)
        if collected.graph.has_conflict:
            lines += _related(step, collected.graph, names)
    return "\n".join(lines)


def has_roles(collected: Collected) -> bool:
    """Whether the plan shows what a statement does for the question, because not all of them answer it."""
    steps, graph = collected.plan.steps, collected.graph
    roles = {step.role for step in steps} | {graph.by_number[n].role for n in collected.plan.numbers}
    return roles != {StatementRole.ANSWERS}


def _names(collected: Collected) -> dict[int, str]:
    """What each statement of the plan is called, by its number; the first name of one that is in two steps."""
    names: dict[int, str] = {}
    for at, step in enumerate(collected.plan.steps, start=1):
        for name, number in _named(at, step):
            names.setdefault(number, name)
    return names


def _named(at: int, step: PlanStep) -> list[tuple[str, int]]:
    """The statements of a step with their names."""
    is_alone = len(step.statements) == 1
    return [(f"{at}" if is_alone else f"{at}.{i}", number) for i, number in enumerate(step.statements, start=1)]


def _step_lines(at: int, step: PlanStep, graph: StatementGraph, sources: Mapping[int, str]) -> Iterator[str]:
    """The lines of a step: what each statement says, or what a person wrote in place of it, and the quoted words."""
    (as_planned,) = plan_in_order(graph, [step.statements]).steps
    is_edited = step.text != as_planned.text
    if is_edited:
        yield f"{at}. {_role(step.role)}{step.text}"
    for name, number in _named(at, step):
        statement = graph.by_number[number]
        if not is_edited:
            role = step.role if number == step.statements[0] else statement.role
            yield f"{name}. {_role(role)}{statement.says}"
        for q in statement.quotations:
            prefix = f"{name} " if is_edited and name != str(at) else ""
            source = f" ({sources[q.passage]})" if sources.get(q.passage) else ""
            yield f"   {prefix}[{q.passage}]{source} {' '.join(q.text.split())}"


def _role(role: StatementRole) -> str:
    return "" if role is StatementRole.ANSWERS else f"({role}) "


def _related(step: PlanStep, graph: StatementGraph, names: Mapping[int, str]) -> Iterator[str]:
    """A line for each relation of the step's statements to others of the plan."""
    for r in graph.relations:
        if r.source in step.statements and r.target in names:
            about = f": {r.about}" if r.about else ""
            yield f"   {_relation(r, graph).format(names[r.source], names[r.target])}{about}"


def _relation(relation: StatementRelation, graph: StatementGraph) -> str:
    """The relation in words; statements that contradict each other show by their roles which one is favoured."""
    if relation.relation is not StatementRelationKind.CONTRADICTS:
        return _RELATIONS[relation.relation]
    opposing = [n for n in (relation.source, relation.target) if graph.by_number[n].role is StatementRole.OPPOSES]
    if len(opposing) != 1:
        return "{} and {} contradict each other, and nothing decides between them"
    return "{0} contradicts {1}, and other facts favour " + ("{1}" if opposing == [relation.source] else "{0}")


def unfamiliar_steps(collected: Collected) -> Iterator[InputError]:
    """What is unsure in a person's plan over statements that a model has written again, perhaps in another order.

    A step whose words are in none of its statements may be meant for others; the errors say so.

    Raises:
        InputError: Another statement has more of a step's words than those that it names.
    """
    graph = collected.graph
    said = {n: shared_words(statement.says) for n, statement in graph.by_number.items()}
    for at, step in enumerate(collected.plan.steps, start=1):
        words = shared_words(step.text)
        own = len(words & frozenset().union(*(said[n] for n in step.statements)))
        most, best = max(((len(words & said[n]), n) for n in said if n not in step.statements), default=(0, 0))
        named = f"Step {at} of the plan names statement {step.statements[0]}, which now says "
        named += f"“{graph.by_number[step.statements[0]].says}”"
        if most > own:
            raise InputError(f"{named}; statement {best} says “{graph.by_number[best].says}”.", hint=_NUMBERED_AGAIN)
        if not own:
            yield InputError(f"{named}; the step has none of these words.", hint=_NUMBERED_AGAIN)
