"""One session of one suite: data, store, run folder, the run, its summary."""

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from discorag import DiscoRAG
from discorag.config import ModelRoles, Settings, StoreSettings
from discorag.discourse.parse.inline import code_table
from discorag.discourse.parse.parser import PROMPTED
from discorag.generation.prompted.paper import material
from discorag.models.memo import MemoEncoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.errors import MissingPathError
from discorag.schema.ledger import Ledger
from discorag.schema.values import digest
from eval.datasets.registry import load_benchmark
from eval.errors import DataError
from eval.metrics.base import MetricModels
from eval.metrics.registry import Metrics, build
from eval.running.answerer import Answerer
from eval.running.bill import Bill, CountingModel
from eval.running.corpus import Corpus, ingest
from eval.running.folder import RunFolder, load_run
from eval.running.record import Record, Run
from eval.running.runner import Runner, find_skipped
from eval.running.summary import summarise
from eval.sample import Benchmark, Sample
from eval.suite import Suite, System, find_system, narrow_to
from interfaces.cli.present import Bar
from nodes.backends import Backends
from prompts import load, names

MEMORY = 65_536
"""Texts whose vectors are remembered: the systems of a question read the same passages. About 100 MB."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where things are.

    Args:
        data: Folder of the datasets.
        home: Folder of the evaluation's own store and of the documents as files.
    """

    data: Path
    home: Path


def open_pipeline(settings: Settings, home: Path) -> DiscoRAG:
    """A pipeline over the evaluation's own store below ``home``. Raises as `Backends.open`."""
    store = StoreSettings(kind="edge", path=home.absolute() / "store")  # not below the configured home
    opened = Backends.open(settings.model_copy(update={"store": store}))
    remembering = MemoEncoder(opened.bare_encoder, size=MEMORY)
    return DiscoRAG(backends=Backends(opened.settings, opened.store, remembering, opened.model))


class Session:
    """A suite with its data, ready to run.

    Args:
        suite: What is run; its ``limit`` and ``systems`` already as wanted.
        place: Where data and store are.
        rag: The pipeline, see `open_pipeline`.
        models: For metrics that need them.
        console: Progress goes here.

    Raises:
        ConfigError, InputError: The suite, its data or its metrics cannot be used; before anything is run.
    """

    def __init__(self, suite: Suite, place: Place, rag: DiscoRAG, models: MetricModels, console: Console) -> None:
        self.suite, self.place, self.rag, self.console = suite, place, rag, console
        self.metrics: Metrics = build(suite.metrics, models)
        self.benchmark: Benchmark = narrow_to(load_benchmark(suite.dataset, place.data / suite.path), suite)
        self._models = models
        self._stood_in = 0
        self._answerer: Answerer | None = None
        if not self.benchmark.samples:
            raise DataError(f"{suite.dataset} holds no question.", hint="Is the file whole?")

    async def run(self, out: Path, *, concurrency: int) -> Run:
        """Run what is missing in the folder ``out`` and sum up; see `Runner.run` for what it raises."""
        start, before = time.perf_counter(), _seconds(out)
        has_llm = self.rag.backends.model is not None
        skips = find_skipped(self.suite.systems, has_llm=has_llm)
        wanted = [find_system(n) for n in self.suite.systems if n not in skips]
        run = self._new(wanted, skips)
        with RunFolder.open(out, run.key) as folder:
            folder.write_run(run.model_copy(update={"seconds": before}))
            try:
                await self._answer(folder, wanted, concurrency)
            finally:
                run = self._sum_up(run, folder.records(), wanted)
                run = run.model_copy(update={"seconds": round(before + time.perf_counter() - start, 1)})
                folder.write_run(run)
        return run

    @property
    def characters(self) -> int:
        """Of all documents that are searched."""
        return sum(len(d.text) for d in self.benchmark.documents.values())

    async def inputs(self, sample: Sample, system: str) -> AnswerInputs:
        """What a system's answer to a question is written from. Raises as `Answerer.inputs`."""
        if self._answerer is None:
            self._answerer = Answerer(self.suite, await self.corpus(self.rag), self.rag, self.benchmark.samples)
        return await self._answerer.inputs(sample, find_system(system))

    async def prompt(self, sample: Sample, system: str) -> str:
        """The prompt of the answer as the paper prints it (figs. 14 and 18), with the structure that the system has."""
        inputs, templates = await self.inputs(sample, system), self.rag.backends.paper_templates
        structured = inputs.graph or inputs.plan or any(chunk.tree for chunk in inputs.chunks)
        reading = templates.trees.render(codes=code_table())
        template = templates.answer if structured else templates.standard
        return template.render(material=material(inputs, reading=reading))

    async def export(self, file: Path, system: str) -> int:
        """Write the prompt and the reference of each question that has one as a line; returns how many."""
        file.parent.mkdir(parents=True, exist_ok=True)
        samples = [s for s in self.benchmark.samples if s.references]
        with file.open("w", encoding="utf-8") as lines:
            for sample in samples:
                example = {
                    "prompt": [{"role": "user", "content": await self.prompt(sample, system)}],
                    "completion": [{"role": "assistant", "content": sample.references[0]}],
                }
                lines.write(json.dumps(example, ensure_ascii=False) + "\n")
        return len(samples)

    async def bill(self) -> list[Bill]:
        """What a parser's and each system's model calls would cost over the suite's questions; no model is asked."""
        backends = self.rag.backends
        model = CountingModel(backends.encoder.tokens, backends.settings.llm.context_tokens)
        no_roles = backends.settings.model_copy(update={"models": ModelRoles()})
        counting = DiscoRAG(backends=Backends(no_roles, backends.store, backends.encoder, model))
        corpus = await self.corpus(counting, refresh=self.suite.parser == PROMPTED)
        answerer = Answerer(self.suite, corpus, counting, self.benchmark.samples)
        ledgers: dict[str, list[Ledger]] = {}
        skips = find_skipped(self.suite.systems, has_llm=True)
        wanted = [s for n in self.suite.systems if n not in skips and (s := find_system(n)).kind != "lead"]
        for sample in self.benchmark.samples:
            for root in dict.fromkeys(s.of or s.name for s in wanted):
                branches = [s for s in wanted if s.of == root]
                for system in (find_system(root), *branches):
                    ledgers.setdefault(system.name, []).append((await answerer.answer(sample, system)).ledger)
                await answerer.forget(sample, root)
        bills = [Bill.of(s.name, ledgers[s.name]) for s in wanted]
        return [Bill.once("trees of the documents", corpus.usage), *bills] if corpus.usage.calls else bills

    async def _answer(self, folder: RunFolder, wanted: Sequence[System], concurrency: int) -> None:
        corpus = await self.corpus(self.rag)
        total, done = len(self.benchmark.samples) * len(wanted), len(folder.records())
        with Bar(self.suite.label, console=self.console) as bar:
            bar.show(done, total)
            runner = Runner(
                benchmark=self.benchmark,
                answerer=Answerer(self.suite, corpus, self.rag, self.benchmark.samples),
                systems=wanted,
                metrics=self.metrics.ready,
                folder=folder,
                on_record=bar.count,
                concurrency=concurrency,
            )
            await runner.run()

    async def corpus(self, rag: DiscoRAG, *, refresh: bool = False) -> Corpus:
        """The documents, ingested by this pipeline. Raises as `ingest`."""
        with Bar("Ingest", console=self.console) as progress:
            parser, home = self.suite.parser, self.place.home
            corpus = await ingest(rag, self.benchmark, home, progress.on_event, parser=parser, refresh=refresh)
        self._stood_in = corpus.failures
        return corpus

    def _new(self, wanted: Sequence[System], skips: dict[str, str]) -> Run:
        """The run before its first answer."""
        settings, versions = self.rag.backends.settings, self._versions()
        data = [s.model_dump(mode="json") for s in self.benchmark.samples]
        documents = [(d.id, digest(d.text)) for d in self.benchmark.documents.values()]
        ready = [m.name for m in self.metrics.ready]
        parts = [self.suite.model_dump(mode="json"), [s.model_dump() for s in wanted], ready, data, documents, versions]
        reading = settings.reading.model_dump(mode="json")
        return Run(
            suite=self.suite.label,
            dataset=f"{self.suite.dataset} ({self.suite.split})",
            n=len(self.benchmark.samples),
            documents=len(self.benchmark.documents),
            seed=self.suite.seed,
            key=digest(json.dumps([*parts, reading], sort_keys=True))[:16],
            versions=versions,
            hardware=_hardware(),
            dropped=self.benchmark.dropped,
            skipped=skips,
            note=self.metrics.note,
        )

    def _versions(self) -> dict[str, str]:
        backends = self.rag.backends
        packages = ("disco-rag", "langgraph", "torch", "transformers", "qdrant-edge-py", "rouge-score", "sacrebleu")
        prompts = "".join(load(name, backends.settings.prompts_dir).hash for name in names())
        judge, file = self._models.judge, self._models.judge_prompt
        return {
            **{p: version(p) for p in packages},
            "encoder": backends.encoder.version,
            "parser": backends.parser(self.suite.parser).version,
            "llm": backends.model.name if backends.model else "none",
            "prompts": digest(prompts)[:16],
            "judge": judge.name if judge else "none",
            "judge prompt": digest(file.read_bytes())[:16] if file else "ours",
        }

    def _sum_up(self, run: Run, records: Sequence[Record], wanted: Sequence[System]) -> Run:
        strata = {s.id: s.strata for s in self.benchmark.samples}
        by_system = {s.name: [r for r in records if r.system == s.name] for s in wanted}
        summaries = {name: summarise(each, strata, self.metrics.missing) for name, each in by_system.items()}
        finished = bool(by_system) and all(len(each) == run.n for each in by_system.values())
        trees = f"At ingest the local parser stood in for {self._stood_in} trees." if self._stood_in else ""
        note = " ".join(filter(None, (self.metrics.note, trees)))
        return run.model_copy(update={"systems": summaries, "finished": finished, "note": note})


def _seconds(out: Path) -> float:
    """Seconds that earlier sessions took."""
    try:
        return load_run(out)[0].seconds
    except MissingPathError:
        return 0.0


def _hardware() -> dict[str, str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"machine": platform.machine(), "cores": str(os.cpu_count()), "memory": f"{memory:.0f} GiB"}
