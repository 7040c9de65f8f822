"""Asks the questions and keeps what was answered, a line each, so that a run that was stopped goes on."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rich.progress import Progress

from bench.answers.sets import Run
from discorag import DiscoRAG
from discorag.settings import LlmSettings, Settings, StoreSettings
from discorag.store.protocol import SearchQuery
from discorag.types.ids import digest
from eval.running.corpus import Corpus, ingest
from eval.sample import DocSpan, Sample
from graphs.facade import AskResult

PACKAGES = ("discorag", "nodes", "graphs", "prompts")


class Sentence(BaseModel, frozen=True):
    """A sentence of an answer and where its evidence stands."""

    text: str
    evidence: tuple[DocSpan, ...]


class Told(BaseModel):
    """What a question was answered.

    Args:
        id: Of the sample.
        sentences: None where it was refused.
        refused: Why; empty where it was answered.
        answerable: The calibrated probability that the evidence answers; None where the code under test gives none.
        cosine: Of the question and the nearest chunk that it was asked over.
        seconds: Wall time.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    sentences: tuple[Sentence, ...] = ()
    refused: str = ""
    answerable: float | None = None
    cosine: float = 0.0
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The answer; empty where it was refused."""
        return " ".join(sentence.text for sentence in self.sentences)


def package_version() -> str:
    """The last commit that changed the packages, with a digest of what is not committed."""
    commit = _git("log", "-1", "--format=%h", "--", *PACKAGES).strip()
    changed = _git("diff", "HEAD", "--", *PACKAGES)
    return f"{commit}+{digest(changed)[:6]}" if changed else commit


def opened(home: Path) -> DiscoRAG:
    """The pipeline over a store below ``home``, with local engines."""
    store = StoreSettings(kind="edge", path=home / "store", url=None)
    return DiscoRAG(Settings(store=store, llm=LlmSettings(base_url=None, model="default", cache=None)))


class Asker:
    """Asks all questions of a run.

    Args:
        rag: The pipeline.
        home: Folder of documents, store and answers.
        progress: Shown while it works.
    """

    def __init__(self, rag: DiscoRAG, home: Path, progress: Progress) -> None:
        self._rag, self._home, self._progress = rag, home, progress
        self._answers = home / "answers" / package_version()

    def run(self, run: Run, limit: int | None) -> dict[str, Told]:
        """The answers by question: those on disk, and the rest asked now.

        Raises:
            DataError: A document of the set could not be ingested as it is.
        """
        samples = run.benchmark.samples[:limit]
        path = self._answers / f"{run.name.replace('/', '-')}.jsonl"
        known = {told.id: told for told in read(path)}
        missing = [sample for sample in samples if sample.id not in known]
        if missing:
            known |= {told.id: told for told in self._asked(run, missing, path)}
        return {sample.id: known[sample.id] for sample in samples}

    def _asked(self, run: Run, samples: list[Sample], path: Path) -> Iterator[Told]:
        path.parent.mkdir(parents=True, exist_ok=True)
        corpus = self.ingested(run)
        task = self._progress.add_task(run.name, total=len(samples))
        with path.open("a", encoding="utf-8") as file:
            for sample in samples:
                told = self._one(run, sample, corpus)
                file.write(told.model_dump_json() + "\n")
                file.flush()
                self._progress.advance(task)
                yield told

    def ingested(self, run: Run) -> Corpus:
        """The run's documents in the store; what is there already is left as it is."""
        task = self._progress.add_task(f"{run.benchmark.name}: ingest", total=None)
        corpus = self._rag.run(lambda: ingest(self._rag, run.benchmark, self._home))
        self._progress.remove_task(task)
        return corpus

    def _one(self, run: Run, sample: Sample, corpus: Corpus) -> Told:
        filters = filters_of(run, sample, corpus)
        start = time.perf_counter()
        result = self._rag.ask(sample.query, filters=filters, corpus=corpus.name, **run.switches)
        seconds = time.perf_counter() - start
        cosine = self._cosine(sample.query, filters, corpus.name)
        return told_of(sample.id, result, corpus).model_copy(update={"cosine": cosine, "seconds": round(seconds, 3)})

    def _cosine(self, query: str, filters: dict[str, list[str]], corpus: str) -> float:
        resources = self._rag.resources
        vector = self._rag.run(lambda: resources.encoder.encode_query(query))
        hits = resources.store.search(
            self._rag.scope(corpus=corpus), SearchQuery(vector=vector, top_k=1, filters=filters)
        )
        return round(hits[0].score, 4) if hits else 0.0


def filters_of(run: Run, sample: Sample, corpus: Corpus) -> dict[str, list[str]]:
    """The filter that leaves the documents which the question is asked over."""
    within = run.within(sample)
    return {"doc_id": [corpus.stored[doc] for doc in within]} if within else {}


def told_of(name: str, result: AskResult, corpus: Corpus) -> Told:
    """What is kept of a result."""
    answer = result.answer
    sentences = tuple(
        Sentence(text=s.text, evidence=tuple(DocSpan(doc=corpus.known[e.doc_id], span=e.span) for e in s.evidence))
        for s in answer.sentences
    )
    probability: float | None = getattr(answer, "answerable", None)
    return Told(id=name, sentences=sentences, refused=answer.abstained, answerable=probability)


def read(path: Path) -> Iterator[Told]:
    """The answers in a file. A last line that was cut off is taken away."""
    if not path.exists():
        return
    text = path.read_text("utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, "utf-8")
    yield from (Told.model_validate_json(line) for line in whole.split("\n") if line)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout
