"""Plan and answer as rich renderables for the terminal."""

from rich.console import RenderableType
from rich.markdown import Markdown
from rich.table import Column, Table
from rich.text import Text
from rich.theme import Theme

from discorag.generation.views import answer_markdown
from discorag.schema.answer import Answer
from discorag.schema.discourse import Plan
from discorag.text.citations import split_references, steps
from discorag.text.escaping import one_line

_MARK = "bold cyan"  # of a citation: no word of a source is bold
THEME = Theme({"markdown.strong": _MARK, "markdown.code": "none"})
"""Of consoles that show answers; in their Markdown the addresses of sources are code."""


def plan_text(plan: Plan) -> RenderableType:
    """The plan's steps, numbered, with marks in a column of their own."""
    table = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 1, 0, 0))
    for number, step in enumerate(steps(plan), start=1):
        shown = Text()
        for piece, is_reference in split_references(one_line(step.text, 2000)):
            shown.append(piece, _MARK if is_reference else "")
        table.add_row(Text(f"{number}."), shown)
    return table


def answer_text(answer: Answer) -> RenderableType:
    """The answer with its sources and disagreements, as its Markdown has them."""
    return Markdown("".join(answer_markdown(answer)))
