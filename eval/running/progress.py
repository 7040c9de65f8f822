"""What a run shows while it goes on: questions done, cost so far, what failed."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from eval.running.record import Record


class RunProgress:
    """A progress bar over answers with the cost so far; a context manager.

    Args:
        console: Where it is drawn.
        label: Suite.
        total: Answers wanted.
        done: Answers that an earlier session has recorded.
    """

    def __init__(self, console: Console, label: str, total: int, done: int) -> None:
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[cost]}"),
            console=console,
        )
        self._task = self._bar.add_task(label, total=total, completed=done, cost="")
        self._in = self._out = self._failures = self._errors = 0

    def recorded(self, record: Record) -> None:
        """Take one record."""
        usage = record.ledger.usage
        self._in, self._out = self._in + usage.tokens_in, self._out + usage.tokens_out
        self._failures += len(record.ledger.failures)
        self._errors += bool(record.error)
        cost = f"{self._in:,} tokens in, {self._out:,} out, {self._failures} failures, {self._errors} without answer"
        self._bar.update(self._task, advance=1, cost=cost)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
