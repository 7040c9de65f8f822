"""Runs a suite: every system on every question, resumable record by record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from discorag.config import HOW_TO_NAME_A_MODEL
from discorag.schema.errors import DiscoRagError
from eval.errors import NotScorableError
from eval.metrics.base import Given, Metric
from eval.running.answerer import DEAD, Answerer
from eval.running.folder import RunFolder
from eval.running.record import Record
from eval.sample import Benchmark, Sample
from eval.suite import System, find_system


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

    def count(self, record: Record) -> None:
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


@dataclass
class Runner:
    """One run of one suite.

    Args:
        benchmark: Its questions and documents.
        answerer: Answers them.
        systems: What is compared.
        metrics: How answers are scored.
        folder: Where records go.
        progress: Told of every record.
        concurrency: Questions under way at once.
    """

    benchmark: Benchmark
    answerer: Answerer
    systems: Sequence[System]
    metrics: Sequence[Metric]
    folder: RunFolder
    progress: RunProgress
    concurrency: int = 4

    async def run(self) -> None:
        """Answer and score what is not recorded yet.

        Raises:
            ModelError: The endpoint of a model died; what was recorded stays, run again to resume.
        """
        done = {(r.sample, r.system) for r in self.folder.records()}
        slots = asyncio.Semaphore(self.concurrency)

        async def one(sample: Sample) -> None:
            wanted = [s for s in self.systems if (sample.id, s.name) not in done]
            if wanted:
                async with slots:
                    await self._question(sample, wanted)

        try:
            async with asyncio.TaskGroup() as tasks:
                for sample in self.benchmark.samples:
                    tasks.create_task(one(sample))
        except BaseExceptionGroup as group:
            if ours := group.subgroup(DiscoRagError):
                raise _first(ours) from None
            raise

    async def _question(self, sample: Sample, wanted: Sequence[System]) -> None:
        """All systems of one question, one after the other; those that resume a run follow it."""
        for root in dict.fromkeys(s.of or s.name for s in wanted):
            own = next((s for s in wanted if s.name == root), None)
            first = await self._record(sample, own or find_system(root), keep=own is not None)
            for system in (s for s in wanted if s.of == root):
                await self._record(sample, system, after=first)
            await self.answerer.forget(sample, root)

    async def _record(
        self, sample: Sample, system: System, *, after: Record | None = None, keep: bool = True
    ) -> Record:
        """Answer, score and write down."""
        start = perf_counter()
        try:
            if after is not None and after.error:
                record = after.model_copy(update={"system": system.name})
            else:
                record = await self.answerer.answer(sample, system)
        except DiscoRagError as error:
            if error.kind in DEAD:
                raise
            seconds = perf_counter() - start
            record = Record(sample=sample.id, system=system.name, error=f"{error.kind}: {error}", seconds=seconds)
        if keep:
            record = await self._score(sample, record)
            self.folder.append(record)
            self.progress.count(record)
        return record

    async def _score(self, sample: Sample, record: Record) -> Record:
        documents = self.benchmark.documents
        given = Given(
            sample=sample,
            documents=documents,
            answer=record.answer,
            evidence=record.evidence,
            used=record.used,
            unsupported=record.unsupported,
        )
        scores: dict[str, float] = {}
        unscored: dict[str, str] = {}
        for metric in self.metrics:
            try:
                value = await metric.score(given)
            except NotScorableError as error:
                unscored[metric.name] = str(error)
            else:
                if value is not None:
                    scores[metric.name] = round(value, 4)
        return record.model_copy(update={"scores": scores, "unscored": unscored})


def _first(group: BaseExceptionGroup[DiscoRagError]) -> DiscoRagError:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, DiscoRagError)
    return error


def find_skipped(names: Sequence[str], *, has_llm: bool) -> dict[str, str]:
    """System -> why it cannot be run here."""
    reason = f"It needs a language model. {HOW_TO_NAME_A_MODEL}"
    return {n: reason for n in names if find_system(n).needs_llm and not has_llm}
