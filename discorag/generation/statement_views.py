"""The statements of an answer by document, how they relate, and the plan over them, as Markdown and HTML."""

from collections.abc import Iterator

from markdown_it import MarkdownIt

from discorag.generation.views import AnswerView, relation_name
from discorag.schema.answer import Answer
from discorag.schema.discourse import Plan, PlanStep
from discorag.schema.statements import (
    Quotation,
    Statement,
    StatementGraph,
    StatementRelation,
    StatementRole,
)
from discorag.text.escaping import markdown

_LONGEST = 400
NUMBERS = "Numbers in braces are those of statements."


def statements_markdown(answer: Answer) -> Iterator[str]:
    """The statements under the documents that they quote, then the relations between them, by number.

    A statement that several documents make is written out under the first one. Quotations that are sources of the
    answer have their number. What sources and models wrote is escaped.
    """
    graph, view, written = answer.statements or StatementGraph(), AnswerView(answer), set[int]()
    for title, quoted in _by_title(graph).items():
        yield f"- {markdown(title, 80) or 'Passage'}\n"
        for number in dict.fromkeys(statement.number for statement, _ in quoted):
            words = " ".join(_quoted(view, q) for s, q in quoted if s.number == number)
            says = "" if number in written else _said(graph.by_number[number])
            yield f"  - {' '.join(filter(None, (_numbers([number]), says, words)))}\n"
            written.add(number)
    if graph.relations:
        yield "\nRelations:\n\n" + "".join(f"- {_related(r)}\n" for r in graph.relations)
    if graph.missing:
        yield f"\nNo passage says: {markdown(graph.missing, _LONGEST)}\n"


def _quoted(view: AnswerView, quotation: Quotation) -> str:
    """The quotation, with the numbers of the sources that it is."""
    places = {(quotation.chunk_id, span) for span in quotation.spans}
    numbers = [str(n) for n, s in enumerate(view.sources, start=1) if (s.chunk_id, s.span) in places]
    source = f" (source {', '.join(numbers)})" if numbers else ""
    return f"“{markdown(quotation.text, _LONGEST)}”{source}"


def _by_title(graph: StatementGraph) -> dict[str, list[tuple[Statement, Quotation]]]:
    """The quotations of each document, whose title no other one has; documents in the order of their passages."""
    found: dict[str, list[tuple[Statement, Quotation]]] = {}
    quoted = ((s, q) for s in graph.statements for q in s.quotations)
    for statement, quotation in sorted(quoted, key=lambda pair: pair[1].passage):
        found.setdefault(quotation.title, []).append((statement, quotation))
    return found


def _said(statement: Statement) -> str:
    """The role and what the statement says, unless that is what it quotes."""
    role = "" if statement.role is StatementRole.ANSWERS else f"({statement.role})"
    is_quotation = statement.says in (q.text for q in statement.quotations)
    says = "" if is_quotation else f"{markdown(statement.says.rstrip(' .。'), _LONGEST)}:"
    return " ".join(filter(None, (role, says)))


def _numbers(numbers: list[int]) -> str:
    """Numbers of statements as a plan has them."""
    return f"{{{', '.join(map(str, numbers))}}}"


def _related(relation: StatementRelation) -> str:
    ends = f"{_numbers([relation.source])} {relation_name(relation.relation)} {_numbers([relation.target])}"
    return f"{ends} ({markdown(relation.about, 120)})" if relation.about else ends


def step_line(step: PlanStep) -> str:
    """A step of a plan over statements, as a person reads it; another step as it is."""
    if step.role is None:
        return step.text
    role = "" if step.role is StatementRole.ANSWERS else f"({step.role}) "
    return f"{role}{step.text} {_numbers([*step.statements])}"


def _plan_markdown(plan: Plan) -> str:
    return "".join(f"{i}. {markdown(step_line(step), None)}\n" for i, step in enumerate(plan.steps, start=1))


def structure_html(answer: Answer) -> str:
    """The statements and the plan of an answer as HTML that can be unfolded; empty if there are none."""
    parts = {
        "Statements": "".join(statements_markdown(answer)) if answer.statements else "",
        "Plan": _plan_markdown(answer.plan) if answer.plan else "",
    }
    render = MarkdownIt("commonmark", {"html": False}).render
    return "".join(
        f"<details><summary>{name}</summary>\n{render(text)}</details>\n" for name, text in parts.items() if text
    )
