"""Runs a suite: every system on every question, resumable record by record."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from discorag.config import HOW_TO_NAME_A_MODEL
from discorag.schema.errors import DiscoRagError
from eval.errors import NotScorableError
from eval.metrics.base import Given, Metric
from eval.running.answerer import DEAD, Answerer
from eval.running.folder import RunFolder
from eval.running.record import Record
from eval.sample import Benchmark, Sample
from eval.suite import System, find_system

UNREAD = (
    "It changes what this system does not read: a language model reads trees and the graph over chunks with "
    "preset=paper, statements with preset=written. The answer would be that of the unchanged run."
)
"""Why a perturbation is left out."""
NO_MODEL = f"It needs a language model. {HOW_TO_NAME_A_MODEL}"


@dataclass
class Runner:
    """One run of one suite.

    Args:
        benchmark: Its questions and documents.
        answerer: Answers them.
        systems: What is compared.
        metrics: How answers are scored.
        folder: Where records go.
        on_record: Called with every record.
        concurrency: Questions under way at once.
    """

    benchmark: Benchmark
    answerer: Answerer
    systems: Sequence[System]
    metrics: Sequence[Metric]
    folder: RunFolder
    on_record: Callable[[Record], None]
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
            self.on_record(record)
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
    """System -> why it cannot be run here, or why its results would say nothing."""
    found = {name: find_system(name) for name in names}
    lacking = [name for name in names if found[name].needs_llm and not has_llm]
    unread = (n for n in names if n not in lacking and not found[n].reads_what_changes(has_model=has_llm))
    return {
        **dict.fromkeys(lacking, NO_MODEL),
        **dict.fromkeys(unread, UNREAD),
    }
