"""Tables of the evaluation's command line."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from eval.datasets.sources import Source
from eval.reporting.report import remarks
from eval.running.bill import Bill
from eval.running.record import Run


def listing(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    """A plain table of texts."""
    table = _table(title, *columns)
    for row in rows:
        table.add_row(*row)
    return table


def run(result: Run, main: Sequence[str]) -> RenderableType:
    """Systems by metrics, the main ones first; what is missing and why below; numbers in score points."""
    found = {m for s in result.systems.values() for m in s.metrics}
    names = [m for m in main if m in found] + sorted(found - set(main))
    title = f"{result.suite}: {result.dataset}, n = {result.n}, {result.documents} documents, {result.seconds:.0f} s"
    table = _table(title, "system")
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    for system, summary in result.systems.items():
        means = (summary.metrics.get(m) for m in names)
        table.add_row(
            f"{system} (partly local)" if summary.label else system, *(f"{m.mean:.1f}" if m else "-" for m in means)
        )
    return Group(table, *(Text(line, style="yellow") for line in remarks(result)))


def bills(name: str, given: Sequence[Bill], official: int | None = None) -> RenderableType:
    """Calls and tokens a question, and over the official test set where its size is known."""
    table = _table(f"{name}: what a language model would take", "system", "questions")
    for column in ("calls", "tokens in", "of them cached", "tokens out"):
        table.add_column(column, justify="right")
    for bill in given:
        table.add_row(
            bill.system, f"each of {bill.questions}" if bill.questions else "once", *_counts(bill, bill.questions or 1)
        )
        if official and bill.questions:
            table.add_row("", f"official {official:,}", *_counts(bill.for_questions(official), 1))
    return table


def sources(given: Sequence[Source], folder: Path | None) -> RenderableType:
    """Each set with what is known of it, and whether it is in the data folder."""
    lines = [Text(f"Data folder: {folder or 'none; DISCO_RAG_DATA names it'}")]
    for source in given:
        is_here = folder is not None and (folder / source.path).exists()
        lines += [Text(), Text(f"{source.name}: {'here' if is_here else 'not here'}", style="bold")]
        facts = {
            "published": source.published,
            "licence": source.licence,
            "size": source.size,
            "path": source.path,
            "layout": source.layout,
            "known from documentation only": source.unseen,
        }
        lines += [Text(f"  {name}: {fact}") for name, fact in facts.items() if fact]
    return Group(*lines)


def _counts(bill: Bill, share: int) -> list[str]:
    return [f"{n / share:,.0f}" for n in (bill.calls, bill.tokens_in, bill.cached, bill.tokens_out)]


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column in ("suite", "system", "experiment"))
    return table
