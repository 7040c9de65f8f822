"""How far a run is: answers, calls, tokens, and the time that is left."""

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from eval.running.budget import Budget


class _Spent(ProgressColumn):
    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self._budget = budget

    def render(self, task: Task) -> Text:
        """What the run has spent at this moment."""
        return Text(self._budget.text)


class AnswerProgress(Progress):
    """A progress bar over the answers of a run, shown between ``with`` and its end."""

    def __init__(self, name: str, total: int, done: int, budget: Budget, console: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        super().__init__(*columns, TextColumn("left"), TimeRemainingColumn(), _Spent(budget), console=console)
        self._task = self.add_task(name, total=total, completed=done)

    def count(self, _: object) -> None:
        """Count one more answer."""
        self.advance(self._task)
