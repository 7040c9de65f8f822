"""Run an experiment point by point over the sessions of suites, resumable, and table what came out."""

import asyncio
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal

from rich.console import Console

from discorag.config import HOW_TO_NAME_A_MODEL, LlmSettings, Settings
from discorag.schema.errors import ConfigError
from discorag.schema.values import digest
from eval.experiments.attention import Attention
from eval.experiments.definition import Experiment, Point
from eval.experiments.ratings import PEOPLE, Thing, structures, write_form
from eval.experiments.table import Line, lines_of, markdown
from eval.metrics.base import MetricModels
from eval.metrics.registry import build
from eval.options import check_data, check_models, models_of
from eval.reporting.report import remarks
from eval.running.bill import Bill
from eval.running.budget import Budget
from eval.running.folder import load_run
from eval.running.record import Record
from eval.running.session import Place, Session, open_pipeline
from eval.sample import Sample
from eval.suite import Suite, find_system


@dataclass(frozen=True, kw_only=True)
class ExperimentRun:
    """One experiment with what it is run with.

    Args:
        experiment: What is run.
        settings: The product's.
        place: Where data and store are.
        models: For metrics that need them.
        out: Folder of its runs.
        console: Progress goes here.
        limit: Questions of each point; None: as the experiment says. Only their documents are searched.
        pool: ``all`` or ``chosen``: whose documents an open suite searches, whatever the limit says.
        budget: What it may spend, and has spent.
        attention: Reads prompts, for the column ``attention_entropy``.
    """

    experiment: Experiment
    settings: Settings
    place: Place
    models: MetricModels
    out: Path
    console: Console
    limit: int | None = None
    pool: Literal["all", "chosen"] | None = None
    budget: Budget = field(default_factory=Budget)
    attention: Attention | None = None

    def check(self, judge: LlmSettings | None, *, asks: bool) -> None:
        """Check data and variables of all settings; if models are to be asked, each of them by a short call.

        Raises:
            MissingPathError: Data is not there.
            ConfigError: A variable is not set, or no row can do without a language model and there is none.
            ModelError: A model does not answer.
        """
        for point in self.experiment.points:
            check_data(self._suite(point), self.place.data)
        models = self._models()
        if not asks:
            return
        systems = [s for p in self.experiment.points for s in self.experiment.systems_at(p).values()]
        if not models and all(find_system(s).needs_llm for s in systems):
            raise ConfigError("Every row needs a language model, and none is configured.", hint=HOW_TO_NAME_A_MODEL)
        asyncio.run(check_models([*models, *([judge] if judge else [])]))

    @property
    def asks_model(self) -> bool:
        """Whether a language model is configured, which may cost."""
        return bool(self._models())

    def _models(self) -> list[LlmSettings]:
        """The language models of all settings."""
        return [m for point in self.experiment.points for m in models_of(point.settings_over(self.settings))]

    def missing(self) -> dict[str, str]:
        """Column -> why it cannot be computed here, and what else the experiment needs; before anything is run."""
        found = {need: "not at hand here" for need in self.experiment.needs}
        metrics = {metric: column for column, metric in self.experiment.columns.items()}
        wanted = dict.fromkeys(m for point in self.experiment.points for m in self._suite(point).metrics)
        lacking = build(tuple(wanted), self.models).missing
        found |= {metrics.get(metric, metric): why for metric, why in lacking.items()}
        if "attention_entropy" in metrics and self.attention is None:
            found[metrics["attention_entropy"]] = "no model is given with --attention"
        return found

    def bill(self) -> list[Bill]:
        """What all points would take of a language model, scaled from a few questions; no model is asked.

        Systems that share a part of their runs are counted as if each ran alone, but the tree of a chunk once.
        """
        bills: list[Bill] = []
        parsed: set[tuple[str, str]] = set()
        sent: set[int] = set()
        for point, session in self._sessions():
            trees = (session.suite.dataset, str(point.settings))
            for bill in asyncio.run(session.estimate(sent)):
                if bill.questions or trees not in parsed:
                    name = f"{bill.system} ({point.label})" if point.label else bill.system
                    bills.append(bill.model_copy(update={"system": name}))
            parsed.add(trees)
        return bills

    def run(self, *, concurrency: int, details: bool = False) -> str:
        """Run what is missing; the Markdown table, which is also written into the folder, there always with details.

        Raises as `Session.run`.
        """
        lines: list[Line] = []
        notes: list[str] = []
        readers: dict[str, None] = {}
        for point, session in self._sessions():
            folder = self.folder(point, session)
            run = asyncio.run(session.run(folder, concurrency=concurrency))
            notes += remarks(run)
            readers[run.versions["llm"]] = None
            records: Sequence[Record] = load_run(folder)[1]
            if self.attention and "attention_entropy" in self.experiment.columns.values():
                records = self._with_attention(folder, session, records)
            lines += lines_of(self.experiment, point, records, session.benchmark.samples, seed=session.suite.seed)
        reader = ", ".join(readers)
        whole = markdown(self.experiment, lines, notes, reader=reader, details=True)
        (self.out / "table.md").write_text(whole, encoding="utf-8")
        return markdown(self.experiment, lines, notes, reader=reader, details=details)

    def folder(self, point: Point, session: Session) -> Path:
        """Where a point's run is: a run with other models has a folder of its own."""
        return session.free_folder(self.out / point.folder)

    def _suite(self, point: Point) -> Suite:
        suite = self.experiment.suite_at(point, self.limit)
        pool = self.pool or ("chosen" if self.limit else suite.pool)
        return suite.model_copy(update={"pool": pool})

    def write_forms(self) -> list[Path]:
        """Write what people rate, one form per point; its questions are drawn with the suite's seed."""
        forms: list[Path] = []
        for point, session in self._sessions():
            samples, folder = session.benchmark.samples, self.folder(point, session)
            drawn = Random(session.suite.seed).sample(samples, min(self.experiment.sample, len(samples)))
            structured = self.experiment.form == "acceptable"
            things = self._structures(session, drawn) if structured else self._summaries(point, folder, session, drawn)
            forms.append(write_form(folder, self.experiment.form, things, session.suite.seed))
        return forms

    def _structures(self, session: Session, samples: Sequence[Sample]) -> list[Thing]:
        system = self.experiment.rows[self.experiment.reference]
        return [thing for s in samples for thing in structures(s.id, asyncio.run(session.inputs(s, system)))]

    def _summaries(self, point: Point, folder: Path, session: Session, samples: Sequence[Sample]) -> list[Thing]:
        """Each system's text and the reference; the documents are written next to the form."""
        rows = {system: row for row, system in self.experiment.systems_at(point).items()}
        answers = {(r.sample, r.system): r.answer for r in load_run(folder)[1]}
        things: list[Thing] = []
        for number, sample in enumerate(samples, start=1):
            documents = [session.benchmark.documents[d] for d in sample.documents]
            source = folder / "sources" / f"{number}.txt"
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text("\n\n".join(d.text for d in documents), encoding="utf-8")
            about = f"{documents[0].title} (sources/{source.name})"
            texts = {row: answers.get((sample.id, system), "") for system, row in rows.items()}
            texts[PEOPLE] = sample.references[0]
            things += [Thing(sample.id, about, text, whose) for whose, text in texts.items() if text.strip()]
        return things

    def _sessions(self) -> Iterator[tuple[Point, Session]]:
        """Each point with its session, whose pipeline is open until the next one."""
        for point in self.experiment.points:
            with self.session(point) as session:
                yield point, session

    @contextmanager
    def session(self, point: Point) -> Generator[Session]:
        """The session of one point; what other settings store lies apart."""
        settings, place = point.settings_over(self.settings), self.place
        if stored := {name: fields for name, fields in point.settings.items() if fields.keys() - {"reader"}}:
            place = Place(data=place.data, home=place.home / f"settings-{digest(json.dumps(stored))[:8]}")
        with closing(open_pipeline(settings, place.home, self.budget)) as rag:
            yield Session(self._suite(point), place, rag, self.models, self.console, self.budget)

    def _with_attention(self, folder: Path, session: Session, records: Sequence[Record]) -> list[Record]:
        """The records with the entropy of the attention with which their answers read their prompts."""
        assert self.attention is not None
        file = folder / "attention.jsonl"
        known: dict[str, float] = dict(map(json.loads, file.read_text("utf-8").splitlines())) if file.is_file() else {}
        samples, read = {s.id: s for s in session.benchmark.samples}, list[Record]()
        for record in records:
            key = f"{record.sample} {record.system}"
            if key not in known and record.answer:
                prompt = asyncio.run(session.prompt(samples[record.sample], record.system))
                known[key] = self.attention.entropy(prompt, record.answer)
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps([key, known[key]]) + "\n")
            scores = {"attention_entropy": known[key]} if key in known else {}
            read.append(record.model_copy(update={"scores": record.scores | scores}))
        return read
