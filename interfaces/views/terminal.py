"""Answer, statements and plan as rich renderables for the terminal."""

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Column, Table
from rich.text import Text
from rich.theme import Theme

from discorag.generation.statement_views import statements_markdown, step_line
from discorag.generation.views import AnswerView, answer_markdown, relation_name
from discorag.schema.answer import Answer
from discorag.text.citations import references, split_references
from discorag.text.escaping import one_line
from interfaces.results import AskResult

_MARK = "bold cyan"  # of a citation: no word of a source is bold
THEME = Theme({"markdown.strong": _MARK, "markdown.code": "none"})
"""The theme of consoles that show answers; in their Markdown, the addresses of sources are code."""


def plan_text(result: AskResult) -> RenderableType:
    """The numbered steps of the plan, which name statements or cite the answer's sources; else why there is none."""
    plan = result.answer.plan
    if plan is None:
        return Text("None: plans are switched off, or the answer needs none.")
    table = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 1, 0, 0))
    for index, step in enumerate(plan.steps):
        shown, used = Text(), set[int]()
        for piece, is_reference in split_references(one_line(step_line(step), 2000)):
            if not is_reference:
                shown.append(piece)
                continue
            numbers = _source_numbers(result, index, piece)
            marks = "".join(f"[{n}]" for n in numbers if n not in used)
            shown.append(marks if numbers else "[not cited]", _MARK)
            used |= {*numbers}
        table.add_row(Text(f"{index + 1}."), shown)
    return table


def _source_numbers(result: AskResult, step: int, reference: str) -> list[int]:
    """Numbers of the sources in the passage that a step refers to: those cited by the step's sentences, else all."""
    view, passage = AnswerView(result.answer), references(reference)[0].chunk
    chunks = [hit.chunk_id for hit in result.hits][passage - 1 : passage]
    cited = [n for n, source in enumerate(view.sources, start=1) if source.chunk_id in chunks]
    own = {n for sentence in result.answer.sentences if sentence.step == step for n in view.numbers(sentence)}
    return [n for n in cited if n in own] or cited


def statements_text(result: AskResult) -> RenderableType:
    """What the passages say on the question and how it relates; without statements, how the passages relate."""
    if result.answer.statements:
        return Markdown("".join(statements_markdown(result.answer)))
    if not (result.graph and result.graph.edges):
        return Text("None: the graph is switched off, or nothing was found to relate.")
    numbers = {chunk_id: number for number, chunk_id in enumerate(result.graph.chunks, start=1)}
    lines = (
        f"passage {numbers[e.source]} {relation_name(e.relation)} passage {numbers[e.target]}"
        f"{f': {e.reason}' if e.reason else ''}"
        for e in result.graph.edges
    )
    return Text("\n".join(one_line(line, 400) for line in lines))


def answer_text(answer: Answer) -> RenderableType:
    """The answer with its sources and disagreements, as its Markdown has them."""
    return Markdown("".join(answer_markdown(answer)))
