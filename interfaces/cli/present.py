"""What the commands share: consoles, JSON, tables and progress."""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.spinner import Spinner
from rich.table import Column, Table
from rich.text import Text

from discorag.conflicts.identity import DocumentIdentity
from discorag.generation.statement_views import NUMBERS
from discorag.ingest.survey import Status
from discorag.options import Resolved
from discorag.schema.errors import InputError, Usage
from discorag.schema.ledger import Ledger
from discorag.schema.values import amount, list_amounts
from discorag.store.records import Corpus, Manifest
from discorag.text.escaping import one_line
from interfaces.cli.batch import Reply
from interfaces.results import AskResult, IngestResult
from interfaces.tune import Tuning
from interfaces.views.terminal import THEME, plan_text, statements_text

out, err = Console(theme=THEME), Console(stderr=True, theme=THEME)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_json(value: BaseModel | Any) -> None:
    """Print a value or a model as JSON."""
    typer.echo(json_text(value))


def json_text(value: BaseModel | Any) -> str:
    """A value or a model as JSON, indented."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return json.dumps(data, ensure_ascii=False, indent=2)


class Bar(Progress):
    """A progress bar, shown between ``with`` and its end; ``total`` may be set later."""

    def __init__(self, name: str, total: int | None = None, *, console: Console = err) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        super().__init__(*columns, console=console)
        self._task = self.add_task(name, total=total)

    def count(self, _: object = None) -> None:
        """Count one more."""
        self.advance(self._task)

    def show(self, completed: int, total: int) -> None:
        """Show how much is done, of how much."""
        self.update(self._task, completed=completed, total=total)

    def on_reply(self, reply: Reply) -> None:
        """Count a reply to a file of questions; say what went wrong."""
        self.count()
        if reply.error:
            self.console.print(Text(one_line(f"{reply.id}: {reply.error.message}", 400), style="red"))

    def on_event(self, event: dict[str, Any]) -> None:
        """Take an event of the ingest graph: ``found`` sets the total, ``document`` advances."""
        if event.get("event") == "found":
            self.update(self._task, total=event["documents"])
        elif event.get("event") == "document" and event["status"] != Status.DELETED:
            self.count()

    @property
    def done(self) -> str:
        """How much is done, of how much."""
        task = self.tasks[self._task]
        return f"{int(task.completed)} of {int(task.total)}" if task.total is not None else "0"


async def follow(events: AsyncGenerator[dict[str, Any] | AskResult], console: Console = err) -> AskResult:
    """The result of `DiscoRAG.astream`. While it is awaited, a terminal shows the stage."""
    spinner = Spinner("dots", "retrieve ...")
    with Live(spinner, console=console, transient=True):
        async for event in events:
            match event:
                case AskResult():
                    return event
                case {"event": "start", "stage": stage}:
                    spinner.update(text=f"{stage} ...")
                case _:
                    pass
    raise InputError("The run ended without an answer.")


def statements_section(result: AskResult) -> RenderableType:
    """The statements and their relations under their heading."""
    return _section("Statements", statements_text(result), is_numbered=bool(result.answer.statements))


def plan_section(result: AskResult) -> RenderableType:
    """The plan under its heading."""
    steps = result.answer.plan.steps if result.answer.plan else ()
    return _section("Plan", plan_text(result), is_numbered=any(step.statements for step in steps))


def _section(title: str, content: RenderableType, *, is_numbered: bool) -> RenderableType:
    """A part of the output under its heading; it says what numbers in braces mean, if there are any."""
    return Group(Text(title, style="bold"), *([Text(NUMBERS)] if is_numbered else []), content)


def ingest_summary(result: IngestResult) -> RenderableType:
    """Documents by status, why any failed, were skipped or are duplicates, and what could not be read of them.

    A note on several documents, such as that the models do not know their language, stands there once.
    """
    counts = Counter(o.status for o in result.outcomes)
    chunks = sum(o.chunks for o in result.outcomes)
    line = ", ".join(f"{n} {status}" for status, n in counts.items()) or "nothing to do"
    noted: dict[tuple[str, str], list[str]] = {}
    for outcome in result.outcomes:
        if outcome.note:
            noted.setdefault((outcome.status, one_line(outcome.note, 400)), []).append(one_line(outcome.uri, 200))
    return Group(
        Text(f"{line}; {amount(chunks, 'chunks')} stored"),
        *(Text(f"  {status} {_names_and_note(uris, note)}") for (status, note), uris in noted.items()),
        *([Text(result.unread)] if result.unread else []),
    )


def _names_and_note(uris: Sequence[str], note: str) -> str:
    more = f" and {amount(len(uris) - 1, 'other documents')}" if len(uris) > 1 else ""
    return name_and_note(f"{uris[0]}{more}", note)


def name_and_note(uri: str, note: str) -> str:
    """A document's name and a note on it; many notes begin with the name."""
    return note if note.startswith(uri) else f"{uri}: {note}"


_COUNTS = {"disk_hits": "from the cache"}
"""Headings for counts of model calls whose names would not be understood."""


def ledger_table(ledger: Ledger, *, seconds: float) -> RenderableType:
    """What each stage cost, and the wall time, in seconds; failures are listed below."""
    used = [name for name in Usage.model_fields if getattr(ledger.usage, name)]
    numbers = ("seconds", *(_COUNTS.get(name, name.replace("_", " ")) for name in used))
    table = plain_table("stage", "engine", "model", numbers=numbers, title="Time and cost")

    def add_row(name: str, engine: str, model: str, seconds: float, usage: Usage) -> None:
        table.add_row(name, engine, model, f"{seconds:.2f}", *(str(getattr(usage, name)) for name in used))

    for s in ledger.stages:
        add_row(s.stage, s.engine, s.model, s.seconds, s.usage)
    add_row("wall time", "", "", seconds, ledger.usage)
    notes = (f"{f.stage}: {f.kind}: {f.message} Used instead: {f.fallback or 'nothing'}." for f in ledger.failures)
    return Group(Text(""), table, *map(Text, notes))


def plain_table(*texts: str, numbers: Sequence[str] = (), title: str | None = None) -> Table:
    """A table without lines: columns of text, then right-aligned columns of numbers."""
    columns = [*(Column(name) for name in texts), *(Column(name, justify="right") for name in numbers)]
    return Table(*columns, title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))


def options_table(resolved: Resolved) -> RenderableType:
    """Every option of a question with its value and where that comes from."""
    table = plain_table("option", "value", "origin")
    for name, value in resolved.options:
        shown = value if isinstance(value, str) else json.dumps(value)
        table.add_row(name, one_line(shown, 60), resolved.origins[name])
    return table


def tuning_table(found: Tuning) -> RenderableType:
    """The candidates, best first; scores and gains in points."""
    table = plain_table("settings", numbers=("score", "words read"))
    order = sorted(range(len(found.candidates)), key=lambda i: -found.candidates[i].score)
    for i in order:
        candidate = found.candidates[i]
        options = ", ".join(f"{name}={value}" for name, value in candidate.options.items()) or "as they are now"
        chosen = " (chosen)" if i == found.chosen else ""
        table.add_row(options + chosen, f"{100 * candidate.score:.1f}", f"{candidate.words:,.0f}")
    return table


def tuning_verdict(found: Tuning) -> RenderableType:
    """What to expect of the choice."""
    if found.chosen == 0:
        return Text("No other settings are better by more than chance: the present ones stay.")
    interval = f"{100 * found.gain:+.1f} points [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    words = [found.candidates[i].words for i in (found.chosen, 0)]
    reads = f"they read {words[0]:,.0f} words a question instead of {words[1]:,.0f}"
    verdict = "" if found.is_better else " That may be chance: the present settings stay."
    return Text(f"Expected gain of the chosen settings on new questions: {interval}; {reads}.{verdict}")


def corpora_table(corpora: list[Corpus]) -> RenderableType:
    """A line each; times are this machine's."""
    table = plain_table("corpus", numbers=("documents", "chunks"))
    table.add_column("last written")
    for c in corpora:
        written = f"{c.written.astimezone():%Y-%m-%d %H:%M}" if c.written else "not known"
        table.add_row(Text(one_line(c.name, 200)), str(c.documents), str(c.chunks), written)
    return table if corpora else Text("Nothing is stored. Ingest documents first: disco-rag ingest PATH")


def status_table(
    documents: Sequence[tuple[str, Manifest, DocumentIdentity]], *, encoder: str, model: str | None
) -> RenderableType:
    """A row for each document, with whom and what time it speaks for; below them the models in use."""
    is_incomplete = any(m.unread for _, m, _ in documents)
    table = plain_table("id", "title", "chunks", "file", "corpus", *(["not read"] if is_incomplete else []))
    for corpus, m, identity in documents:
        title = f"{m.title} ({identity})" if str(identity) else m.title
        cells = (m.doc_id[:8], title, str(m.chunks), Path(m.uri).name, corpus)
        unread = [list_amounts(m.unread)] if m.unread else []
        table.add_row(*(Text(one_line(cell)) for cell in (*cells, *unread)))
    held = f"{amount(len(documents), 'documents')}, {amount(sum(m.chunks for _, m, _ in documents), 'chunks')}"
    return Group(table, Text(one_line(f"{held}. Encoder: {encoder}. LLM: {model or 'none (local engines)'}.", None)))
