"""One session of one suite: data, store, run folder, the run, its summary."""

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import get_args

from rich.console import Console

from discorag import DiscoRAG
from discorag.config import NAMELESS, LlmSettings, ModelRoles, Role, Settings, StoreSettings
from discorag.discourse.parse.inline import code_table
from discorag.discourse.parse.parser import PROMPTED
from discorag.generation.prompted.paper import material
from discorag.models.memo import MemoEncoder
from discorag.schema.answer import AnswerInputs
from discorag.schema.errors import MissingPathError
from discorag.schema.ledger import Ledger
from discorag.schema.values import digest
from discorag.store.records import NOT_MADE
from eval.datasets.registry import load_benchmark
from eval.errors import DataError
from eval.metrics.base import MetricModels
from eval.metrics.registry import Metrics, build
from eval.running.answerer import Answerer
from eval.running.bill import Bill, CountingBackends, CountingModel
from eval.running.budget import Budget, MeteredBackends
from eval.running.corpus import Corpus, ingest
from eval.running.folder import RunFolder, check_same, describe_difference, load_run
from eval.running.progress import AnswerProgress
from eval.running.record import Record, Run
from eval.running.runner import Runner, find_skipped
from eval.running.summary import summarise
from eval.sample import Benchmark, Sample
from eval.suite import Suite, System, find_system, narrow_to
from interfaces.cli.present import Bar
from nodes.backends import Backends
from prompts import load, names

BILLED = 5
"""Questions whose prompts are counted for a bill that is then scaled."""
RETRIEVED_TREES = "trees of the retrieved chunks"
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


@lru_cache(maxsize=1)
def _read(dataset: str, path: Path) -> Benchmark:
    """The benchmark as `load_benchmark` returns it; a bill and the run after it read it once."""
    return load_benchmark(dataset, path)


def open_pipeline(settings: Settings, home: Path, budget: Budget | None = None) -> DiscoRAG:
    """A pipeline over the evaluation's own store below ``home``. Raises as `Backends.open`."""
    store = StoreSettings(kind="edge", path=home.absolute() / "store")  # not below the configured home
    opened = Backends.open(settings.model_copy(update={"store": store}))
    remembering = MemoEncoder(opened.bare_encoder, size=MEMORY)
    metered = MeteredBackends(opened.settings, opened.store, remembering, opened.model, budget or Budget())
    return DiscoRAG(backends=metered)


class Session:
    """A suite with its data, ready to run.

    Args:
        suite: What is run; its ``limit`` and ``systems`` already as wanted.
        place: Where data and store are.
        rag: The pipeline, see `open_pipeline`.
        models: For metrics that need them.
        console: Progress goes here.
        budget: What its progress shows as spent; the pipeline's own.

    Raises:
        ConfigError, InputError: The suite, its data or its metrics cannot be used; before anything is run.
    """

    def __init__(
        self,
        suite: Suite,
        place: Place,
        rag: DiscoRAG,
        models: MetricModels,
        console: Console,
        budget: Budget | None = None,
    ) -> None:
        self.suite, self.place, self.rag, self.console, self._budget = suite, place, rag, console, budget or Budget()
        self.metrics: Metrics = build(suite.metrics, models)
        self.benchmark: Benchmark = narrow_to(_read(suite.dataset, place.data / suite.path), suite)
        self._models = models
        self._stood_in = 0
        self._answerer: Answerer | None = None
        if not self.benchmark.samples:
            raise DataError(f"{suite.dataset} holds no question.", hint="Is the file whole?")

    async def run(self, out: Path, *, concurrency: int) -> Run:
        """Run what is missing in the folder ``out`` and sum up.

        Raises:
            DataError: The folder holds another run; the error says in what it differs.
            BudgetSpentError, ModelError: As `Runner.run`.
        """
        start, before = time.perf_counter(), _seconds(out)
        run, wanted = self._planned
        check_same(out, run)
        with RunFolder.open(out, run.key) as folder:
            folder.write_run(run.model_copy(update={"seconds": before}))
            try:
                await self._answer(folder, wanted, concurrency)
            finally:
                run = self._sum_up(run, folder.records(), wanted)
                run = run.model_copy(update={"seconds": round(before + time.perf_counter() - start, 1)})
                folder.write_run(run)
        return run

    def free_folder(self, folder: Path) -> Path:
        """The folder, or one next to it if it holds a run with other models, options or data.

        The name of the other one ends with this run's key.
        """
        run, _ = self._planned
        other = describe_difference(folder, run)
        if not other:
            return folder
        own = folder.with_name(f"{folder.name}-{run.key[:8]}")
        self.console.print(f"{folder} holds another run ({other}). This run is in {own}.", soft_wrap=True)
        return own

    @cached_property
    def _planned(self) -> tuple[Run, list[System]]:
        """The run before its first answer, and the systems that it has."""
        skips = find_skipped(self.suite.systems, has_llm=self.rag.backends.model is not None)
        wanted = [find_system(n) for n in self.suite.systems if n not in skips]
        return self._new(wanted, skips), wanted

    @property
    def characters(self) -> int:
        """How many characters the searched documents have."""
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

    async def bill(self, sent: set[int] | None = None) -> list[Bill]:
        """What a parser's and each system's model calls would cost over the suite's questions; no model is asked.

        Bills that share ``sent`` pay for the tree of a chunk once.
        """
        backends = self.rag.backends
        model = CountingModel(backends.encoder.tokens, backends.settings.llm, sent)
        no_roles = backends.settings.model_copy(update={"models": ModelRoles()})
        counting = DiscoRAG(backends=CountingBackends(no_roles, backends.store, backends.encoder, model))
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
        bills = [Bill.of(s.name, [_part(ledger, is_trees=False) for ledger in ledgers[s.name]]) for s in wanted]
        asked = zip(*(ledgers[s.name] for s in wanted), strict=True)  # the ledgers of each question
        trees = Bill.of(RETRIEVED_TREES, [_part(*found, is_trees=True) for found in asked])
        ingested = Bill.once("trees of the documents", corpus.usage)
        return [*(bill for bill in (ingested, trees) if bill.calls), *bills]

    async def estimate(self, sent: set[int] | None = None) -> list[Bill]:
        """The bill of all questions, scaled from the prompts of a few.

        Systems that share a part of their runs are counted as if each ran alone. Raises as `bill`.
        """
        n = len(self.benchmark.samples)
        few = self.suite.model_copy(update={"limit": min(n, BILLED), "pool": "chosen"})
        counted = Session(few, self.place, self.rag, MetricModels(), self.console)
        share = self.characters / counted.characters
        bills = await counted.bill(sent)
        return [bill.for_questions(n) if bill.questions else bill.scale(share) for bill in bills]

    async def _answer(self, folder: RunFolder, wanted: Sequence[System], concurrency: int) -> None:
        corpus = await self.corpus(self.rag)
        total, done = len(self.benchmark.samples) * len(wanted), len(folder.records())
        with AnswerProgress(self.suite.label, total, done, self._budget, self.console) as bar:
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
        sections = [s.model_dump(mode="json") for s in (settings.reading, settings.trees)]
        return Run(
            suite=self.suite.label,
            dataset=f"{self.suite.dataset} ({self.suite.split})",
            n=len(self.benchmark.samples),
            documents=len(self.benchmark.documents),
            seed=self.suite.seed,
            key=digest(json.dumps([*parts, *sections], sort_keys=True))[:16],
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
            "parser": self._parser_version(),
            **_models_of(backends.settings),
            "prompts": digest(prompts)[:16],
            "judge": judge.name if judge else "none",
            "judge prompt": digest(file.read_bytes())[:16] if file else "ours",
            **{name: folder.name for name, folder in self._models.folders.items()},
        }

    def _parser_version(self) -> str:
        """Whose trees the chunks have; for trees that questions make, that of the configured parser."""
        backends, parser = self.rag.backends, self.suite.parser
        if parser == NOT_MADE:
            return f"{backends.parser(backends.settings.parser.kind).version}, on demand"
        return backends.parser(parser).version

    @property
    def _pool(self) -> str:
        """Which documents an open suite searches."""
        if self.suite.retrieval != "pooled":
            return ""
        whose = "all questions of the file" if self.suite.pool == "all" else "the questions at hand"
        return f"Searched were the {len(self.benchmark.documents)} documents of {whose}."

    def _sum_up(self, run: Run, records: Sequence[Record], wanted: Sequence[System]) -> Run:
        strata = {s.id: s.strata for s in self.benchmark.samples}
        by_system = {s.name: [r for r in records if r.system == s.name] for s in wanted}
        summaries = {name: summarise(each, strata, self.metrics.missing) for name, each in by_system.items()}
        finished = bool(by_system) and all(len(each) == run.n for each in by_system.values())
        trees = f"At ingest the local parser stood in for {self._stood_in} trees." if self._stood_in else ""
        note = " ".join(filter(None, (self.metrics.note, self._pool, trees)))
        return run.model_copy(update={"systems": summaries, "finished": finished, "note": note})


def _part(*ledgers: Ledger, is_trees: bool) -> Ledger:
    """The stages of these ledgers that made trees, or all others."""
    return Ledger(stages=tuple(s for ledger in ledgers for s in ledger.stages if (s.stage == "parse") is is_trees))


def _models_of(settings: Settings) -> dict[str, str]:
    """The models that shape answers: the reader, every role that has its own, and what ranks and checks sentences.

    A model without a name is the only one of its server, so the server's address tells it from others.
    """
    found = {"llm": _name_of(settings.llm_for("reader"))}
    roles = [role for role in get_args(Role) if role != "reader" and getattr(settings.models, role)]
    found |= {f"{role} model": _name_of(settings.llm_for(role)) for role in roles}
    ranks = settings.reranker.model_dump(mode="json", include={"kind", "model"})
    found |= {"reranker": " ".join(filter(None, ranks.values())), "context": str(settings.llm.context_tokens)}
    found |= {"nli": f"{settings.nli.model}, {settings.nli.threshold}"} if settings.nli.model else {}
    file = settings.calibration
    return found | ({"calibration": digest(file.read_bytes())[:16]} if file else {})


def _name_of(model: LlmSettings) -> str:
    if not model.provider:
        return "none"
    return f"{NAMELESS} of {digest(model.base_url or '')[:8]}" if model.model == NAMELESS else model.model


def _seconds(out: Path) -> float:
    """Seconds that earlier sessions took."""
    try:
        return load_run(out)[0].seconds
    except MissingPathError:
        return 0.0


def _hardware() -> dict[str, str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"machine": platform.machine(), "cores": str(os.cpu_count()), "memory": f"{memory:.0f} GiB"}
