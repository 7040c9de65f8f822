"""Plan and answer as rich renderables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from discorag.generation.views import CLOSEST, DISAGREE, WARNINGS, AnswerView, place_of, position_of
from discorag.schema.answer import NO_ANSWER, NOT_SURE, Answer, Disagreement, EvidenceSpan, Support
from discorag.schema.discourse import Plan
from discorag.text.citations import split_references, steps
from discorag.text.escaping import one_line

_MARK = "bold cyan"  # of a citation: no word of a source is bold


def plan_text(plan: Plan) -> RenderableType:
    """The plan's steps, numbered."""
    return _indent((Text(f"{i}."), _step(step.text)) for i, step in enumerate(steps(plan), start=1))


def _step(text: str) -> Text:
    shown = Text()
    for piece, is_reference in split_references(one_line(text, 2000)):
        shown.append(piece, _MARK if is_reference else "")
    return shown


def _indent(rows: Iterable[tuple[Text, RenderableType]]) -> Table:
    """Marks in a column of their own, so that the lines of a text are below each other."""
    table = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 1, 0, 0))
    for mark, text in rows:
        table.add_row(mark, text)
    return table


def answer_text(answer: Answer) -> RenderableType:
    """The answer with numbered sources, why sentences are not supported or not verified, and the disagreements."""
    if answer.abstained:
        closest = [Text(CLOSEST)] if answer.nearest else []
        passages = _indent((Text("-"), Text(place_of(e, one_line), "dim")) for e in answer.nearest)
        return Group(Text(f"{NO_ANSWER} {answer.abstained}"), *closest, passages, *_notes(answer))
    view = AnswerView(answer)
    body = Text(f"{NOT_SURE} " if answer.unsure else "", style="yellow")
    for sentence in answer.sentences:
        style = "yellow" if sentence.support is Support.NOT_SUPPORTED else ""
        body.append(one_line(sentence.text, None), style=style)
        body.append(view.marks(sentence), style=f"bold {style}" if style else _MARK).append(" ")
    parts: list[RenderableType] = [body, Text("")]
    numbered = enumerate(view.sources, start=1)
    parts.append(_indent((Text(f"[{i}]", _MARK), Text(_source(e, answer), "dim")) for i, e in numbered))
    if view.reasons:
        parts += [Text(""), *(Text(f"{state}: {one_line(why, None)}", style="dim") for state, why in view.reasons)]
    if answer.disagreements:
        parts += [Text(""), Text(DISAGREE, style="bold red")]
        parts += [_disagreement(d, view.sources) for d in answer.disagreements]
    return Group(*parts, *_notes(answer))


def _notes(answer: Answer) -> list[RenderableType]:
    lines = ["", WARNINGS, *(f"- {one_line(note, None)}" for note in answer.notes)] if answer.notes else []
    return [Text(line, style="yellow") for line in lines]


def _source(source: EvidenceSpan, answer: Answer) -> str:
    """Where a source is; what it says only if no sentence of the answer quotes it."""
    text = one_line(source.text, None)
    is_quoted = any(text in one_line(s.text, None) for s in answer.sentences if source in s.evidence)
    return position_of(source, one_line) if is_quoted else place_of(source, one_line)


def _disagreement(d: Disagreement, sources: Sequence[EvidenceSpan]) -> RenderableType:
    """Why, then both sides: by their number if they are sources of the answer."""
    head = Text(f"{d.relation.replace('_', ' ').capitalize()}. {one_line(d.reason, None)}".rstrip(), style="red")
    sides: list[tuple[Text, RenderableType]] = []
    for side in (d.a, d.b):
        number = sources.index(side) + 1 if side in sources else None
        quote = f"“{one_line(side.text, 100)}”" if number else place_of(side, one_line)
        sides.append((Text(f"[{number}]" if number else "-", _MARK if number else ""), Text(quote)))
    pair = Padding(_indent(sides), (0, 0, 0, 2), expand=False)
    return Padding(Group(head, pair), (0, 0, 0, 2), expand=False)
