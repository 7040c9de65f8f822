"""Asks the questions of a run and stores each reply as a line, so that a stopped run can be resumed."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict
from rich.progress import Progress

from bench.answers.sets import Run
from bench.report import package_version
from discorag import DiscoRAG
from discorag.config import LlmSettings, Settings, StoreSettings
from discorag.schema.answer import Answer, EvidenceSpan
from discorag.schema.values import digest
from eval.running.corpus import Corpus, ingest
from eval.sample import Benchmark, DocSpan, Sample


class Sentence(BaseModel, frozen=True):
    """A sentence of an answer, and where its evidence and the context quoted with it are."""

    text: str
    evidence: tuple[DocSpan, ...]
    context: tuple[DocSpan, ...] = ()

    @property
    def quoted(self) -> tuple[DocSpan, ...]:
        """Everything that the answer quotes."""
        return (*self.evidence, *self.context)


class Conflict(BaseModel, frozen=True):
    """Two sentences that an answer reports as conflicting."""

    relation: str
    a: str
    b: str

    @property
    def id(self) -> str:
        """A digest of both sentences, in either order."""
        return pair_digest(self.a, self.b)


def pair_digest(one: str, other: str) -> str:
    """A digest of two sentences, in either order."""
    return digest("\n".join(sorted((one, other))))[:16]


class Reply(BaseModel):
    """What the product replied to a question.

    Args:
        id: Id of the sample.
        sentences: Sentences of the answer; empty if it refused.
        refused: The reason it gave; empty if it answered.
        forced: Sentences of the answer with ``abstain="never"``, where it refused and the run asks for them.
        answerable: The calibrated probability that the evidence answers the question; None if there is none.
        conflicts: Those that the answer reports.
        spans: Evidence spans of the answer.
        exact: Those whose text equals the document's text at the span.
        seconds: Wall time.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    sentences: tuple[Sentence, ...] = ()
    refused: str = ""
    forced: tuple[Sentence, ...] = ()
    answerable: float | None = None
    conflicts: tuple[Conflict, ...] = ()
    spans: int = 0
    exact: int = 0
    seconds: float = 0.0

    @property
    def best_effort(self) -> tuple[Sentence, ...]:
        """The sentences with refusal switched off."""
        return self.forced if self.refused else self.sentences


def open_product(home: Path) -> DiscoRAG:
    """The pipeline over a store below ``home``, without a language model."""
    store = StoreSettings(kind="edge", path=home.absolute() / "store", url=None)  # not below the configured home
    return DiscoRAG(Settings(store=store, llm=LlmSettings(base_url=None, model="default", cache=None)))


class Asker:
    """Asks all questions of a run.

    Args:
        rag: The pipeline.
        home: Folder of documents, store and replies.
        progress: Shown while it works.
    """

    def __init__(self, rag: DiscoRAG, home: Path, progress: Progress) -> None:
        self._rag, self._home, self._progress = rag, home, progress
        self._replies = home / "replies" / package_version()

    def ask(self, run: Run, limit: int | None = None) -> dict[str, Reply]:
        """The replies by question: stored ones, and the others asked now.

        Raises:
            DataError: A document of the set could not be ingested unchanged.
        """
        samples = run.benchmark.samples[:limit]
        path = self._replies / f"{run.name.replace('/', '-')}.jsonl"
        known = {reply.id: reply for reply in map(Reply.model_validate_json, complete_lines(path))}
        missing = [sample for sample in samples if sample.id not in known]
        if missing:
            known |= {reply.id: reply for reply in self._ask_missing(run, missing, path)}
        return {sample.id: known[sample.id] for sample in samples}

    def _ask_missing(self, run: Run, samples: list[Sample], path: Path) -> Iterator[Reply]:
        path.parent.mkdir(parents=True, exist_ok=True)
        corpus = self._rag.run(lambda: ingest(self._rag, run.benchmark, self._home))
        with path.open("a", encoding="utf-8") as file:
            for sample in self._progress.track(samples, description=run.name):
                reply = self._ask_one(run, sample, corpus)
                file.write(reply.model_dump_json(exclude_defaults=True) + "\n")
                file.flush()
                yield reply

    def _ask_one(self, run: Run, sample: Sample, corpus: Corpus) -> Reply:
        within = run.within(sample)
        filters = {"doc_id": [corpus.stored[doc] for doc in within]} if within else {}
        start = time.perf_counter()
        answer = self._rag.ask(sample.query, filters=filters, corpus=corpus.name).answer
        seconds = round(time.perf_counter() - start, 3)
        reply = reply_of(sample.id, answer, corpus.known, run.benchmark).model_copy(update={"seconds": seconds})
        if not (reply.refused and run.forced and sample.answerable):
            return reply
        answer = self._rag.ask(sample.query, filters=filters, corpus=corpus.name, abstain="never").answer
        forced = reply_of(sample.id, answer, corpus.known, run.benchmark)
        return reply.model_copy(update={"forced": forced.sentences, "spans": forced.spans, "exact": forced.exact})


def reply_of(sample_id: str, answer: Answer, known: Mapping[str, str], benchmark: Benchmark) -> Reply:
    """What is stored of an answer.

    Args:
        sample_id: Id of the question.
        answer: The product's.
        known: Document id in the store -> id in the benchmark.
        benchmark: Whose documents the evidence must equal.
    """
    evidence = [e for s in answer.sentences for e in s.evidence]

    def places(spans: Sequence[EvidenceSpan], *, context: bool) -> tuple[DocSpan, ...]:
        return tuple(DocSpan(doc=known[e.doc_id], span=e.span) for e in spans if e.is_context is context)

    return Reply(
        id=sample_id,
        sentences=tuple(
            Sentence(text=s.text, evidence=places(s.evidence, context=False), context=places(s.evidence, context=True))
            for s in answer.sentences
        ),
        refused=answer.abstained,
        answerable=answer.answerable,
        conflicts=tuple(Conflict(relation=d.relation, a=d.a.text, b=d.b.text) for d in answer.disagreements),
        spans=len(evidence),
        exact=sum(e.span.of(benchmark.documents[known[e.doc_id]].text) == e.text for e in evidence),
    )


def complete_lines(path: Path) -> list[str]:
    """The lines of a file that grows, none if it does not exist. Removes a last line that was cut off."""
    text = path.read_text("utf-8") if path.exists() else ""
    complete = text[: text.rfind("\n") + 1]
    if complete != text:
        path.write_text(complete, "utf-8")
    return [line for line in complete.split("\n") if line]
