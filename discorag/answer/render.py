"""Graph, plan and answer for people: rich renderables for the terminal, Mermaid for documents and Studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from discorag.text.citations import escaped_brackets, marked_pieces, steps
from discorag.text.shown import markdown, mermaid, one_line
from discorag.types.answer import NO_ANSWER, NOT_SURE, Answer, AnswerSentence, Disagreement, EvidenceSpan, Support
from discorag.types.chunk import Chunk
from discorag.types.graph import RhetoricalGraph
from discorag.types.plan import Plan

_LABEL = 60
_MARK = "bold cyan"  # of a citation: no word of a source is bold
NOTED = "Not all went as meant:"


def graph_text(graph: RhetoricalGraph, chunks: tuple[Chunk, ...], answer: Answer | None = None) -> RenderableType:
    """The chunks by number, each with its sentence in ``answer`` or in a relation, then one line per edge."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for number, chunk in enumerate(chunks, start=1):
        used = one_line(_used(chunk, graph, answer), _LABEL)
        table.add_row(Text(f"[{number}]", _MARK), Text(one_line(chunk.title, 30)), Text(used))
    lines = [
        Text(
            f"[{graph.number(e.source)}] {e.relation} [{graph.number(e.target)}]",
            style="bold red" if e.disagrees else "",
        )
        for e in graph.edges
    ]
    return Group(table, Text(""), *(lines or [Text("No relations.")]))


def graph_mermaid(graph: RhetoricalGraph, chunks: tuple[Chunk, ...], answer: Answer | None = None) -> str:
    """A Mermaid flowchart: a vertex per chunk, with what `graph_text` shows of it, and an edge per relation."""
    lines = ["flowchart LR"]
    for number, chunk in enumerate(chunks, start=1):
        title, text = (mermaid(part, 2 * _LABEL) for part in (chunk.title, _used(chunk, graph, answer)))
        lines.append(f'    c{number}["{number}: {title}{f"<br/>{text}" if text else ""}"]')
    lines += [f"    c{graph.number(e.source)} -->|{e.relation}| c{graph.number(e.target)}" for e in graph.edges]
    return "\n".join(lines) + "\n"


def plan_text(plan: Plan) -> RenderableType:
    """The plan's steps, numbered."""
    return Group(*(_step(i, step.text) for i, step in enumerate(steps(plan), start=1)))


def _step(number: int, text: str) -> Text:
    shown = Text(f"{number}. ")
    for piece, is_reference in marked_pieces(one_line(text, 2000)):
        shown.append(piece, _MARK if is_reference else "")
    return shown


def plan_mermaid(plan: Plan, answer: Answer | None = None) -> str:
    """A Mermaid flowchart of the steps in order, each with the evidence that ``answer`` has for it."""
    lines = ["flowchart TD"]
    for i, step in enumerate(steps(plan), start=1):
        said = [mermaid(escaped_brackets(step.text), 2 * _LABEL)]
        said += [f"“{mermaid(e.text, 2 * _LABEL)}”" for e in _evidence_of(answer, i - 1)]
        lines.append(f'    s{i}["{i}: {"<br/>".join(said)}"]')
        if i > 1:
            lines.append(f"    s{i - 1} --> s{i}")
    return "\n".join(lines) + "\n"


def _used(chunk: Chunk, graph: RhetoricalGraph, answer: Answer | None) -> str:
    """The sentence of a chunk that the answer rests on, else one that carries a relation; empty if there is none."""
    cited = [e.text for s in (answer.sentences if answer else ()) for e in s.evidence if e.chunk_id == chunk.id]
    ends = [end for e in graph.edges for end in ((e.source, e.source_span), (e.target, e.target_span))]
    related = [chunk.slice(span) for of, span in ends if of == chunk.id and span and chunk.span.contains(span)]
    return next(iter([*cited, *related]), "")


def _evidence_of(answer: Answer | None, step: int) -> list[EvidenceSpan]:
    """What the answer's sentences of this step rest on, each once."""
    found = (e for s in (answer.sentences if answer else ()) if s.step == step for e in s.evidence)
    return list(dict.fromkeys(found))


def answer_text(answer: Answer) -> RenderableType:
    """The answer with numbered sources, why sentences are not supported or not verified, and the disagreements."""
    if answer.abstained:
        nearest = (Text(f"- {_where(e, one_line)}", style="dim") for e in answer.nearest)
        return Group(Text(f"{NO_ANSWER} {answer.abstained}"), *_nearest(answer), *nearest, *_notes(answer))
    sources = _sources(answer)
    body = Text(f"{NOT_SURE} " if answer.unsure else "", style="yellow")
    for sentence in answer.sentences:
        style = "yellow" if sentence.support is Support.NOT_SUPPORTED else ""
        body.append(one_line(sentence.text, None) + " ", style=style)
        body.append(_marks(sentence, sources) + " ", style=f"bold {style}" if style else _MARK)
    parts: list[RenderableType] = [body, Text("")]
    parts += [Text.assemble((f"[{i}] ", _MARK), (_where(e, one_line), "dim")) for i, e in enumerate(sources, start=1)]
    if reasons := _reasons(answer):
        parts += [Text(""), *(Text(f"{state}: {one_line(reason, None)}", style="dim") for state, reason in reasons)]
    if answer.disagreements:
        parts += [Text(""), Text("The sources disagree:", style="bold red")]
        parts += [_disagreement(d) for d in answer.disagreements]
    return Group(*parts, *_notes(answer))


def answer_markdown(answer: Answer) -> Iterator[str]:
    """The same as Markdown, in pieces to be joined: each sentence as one, then sources and disagreements.

    All markup is ours, so only our citations are bold: what sources and models wrote is escaped.
    """
    if answer.abstained:
        yield f"{NO_ANSWER} {markdown(answer.abstained)}"
        yield "".join(f"\n\n{line}\n" for line in _nearest(answer))
        yield "".join(f"\n- {_where(e, markdown)}" for e in answer.nearest)
    sources = _sources(answer)
    if answer.unsure:
        yield f"{NOT_SURE} "
    for sentence in answer.sentences:
        yield f"{markdown(sentence.text)} **{_marks(sentence, sources)}** "
    if sources:
        yield "\n\nSources:\n\n" + "\n".join(f"{i}. {_where(e, markdown)}" for i, e in enumerate(sources, start=1))
    for i, (state, reason) in enumerate(_reasons(answer)):
        yield ("\n" if i == 0 else "") + f"\n- {state}: {markdown(reason)}"
    for i, d in enumerate(answer.disagreements):
        sides = f"{_where(d.a, markdown)} / {_where(d.b, markdown)}"
        yield ("\n\nThe sources disagree:\n" if i == 0 else "") + f"\n- {d.relation}: {sides}{_differs(d, markdown)}"
    if answer.notes:
        yield f"\n\n{NOTED}\n\n" + "\n".join(f"- {markdown(note)}" for note in answer.notes)


def _notes(answer: Answer) -> list[RenderableType]:
    lines = ["", NOTED, *(f"- {one_line(note, None)}" for note in answer.notes)] if answer.notes else []
    return [Text(line, style="yellow") for line in lines]


def _nearest(answer: Answer) -> list[str]:
    return ["Closest passages:"] if answer.nearest else []


def _sources(answer: Answer) -> list[EvidenceSpan]:
    return list(dict.fromkeys(e for s in answer.sentences for e in s.evidence))


def _marks(sentence: AnswerSentence, sources: list[EvidenceSpan]) -> str:
    """The numbers of its sources, and its state unless it is supported: ``[1][not verified]``."""
    state = "" if sentence.supported else f"[{sentence.support}]"
    return "".join(f"[{sources.index(e) + 1}]" for e in sentence.evidence) + state


def _reasons(answer: Answer) -> list[tuple[str, str]]:
    """Why sentences are not supported or not verified, each state and reason once."""
    why = ((s.support.capitalize(), s.reason) for s in answer.sentences if not s.supported and s.reason)
    return list(dict.fromkeys(why))


def _where(e: EvidenceSpan, shown: Callable[[str, int], str]) -> str:
    page = f", p. {e.page}" if e.page else ""
    also = f" (also in {shown(', '.join(e.also_in), 80)})" if e.also_in else ""
    return f"{shown(e.title, 50)}{also}{page}, characters {e.span.start}-{e.span.end}: “{shown(e.text, 100)}”"


def _disagreement(d: Disagreement) -> RenderableType:
    sides = (Text(f"    {_where(e, one_line)}") for e in (d.a, d.b))
    return Group(Text(f"  {d.relation}{_differs(d, one_line)}", style="red"), *sides)


def _differs(d: Disagreement, shown: Callable[[str, int], str]) -> str:
    """In what, each in the words of both."""
    said = (f"{x.kind}: {shown(x.a, 50) or '-'} / {shown(x.b, 50) or '-'}" for x in d.differs)
    return "".join(f"; {x}" for x in said)
