"""Small benchmarks, and sessions over the fixtures, for the tests of the evaluation's core."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from discorag import DiscoRAG
from discorag.schema.values import Span
from eval.metrics.base import Metric, MetricModels
from eval.running.answerer import Answerer
from eval.running.corpus import ingest
from eval.running.folder import RunFolder
from eval.running.record import Record
from eval.running.runner import Runner
from eval.running.session import Place, Session
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument
from eval.suite import Suite, find_system, load_suite
from tests.eval.runs import a_run

FIXTURES = Path(__file__).parent / "fixtures"
QUIET = Console(quiet=True)
TEXTS = {
    "trial": "# Trial\n\nDaily vitamin D lowered the incidence of influenza by 12 % in schoolchildren.",
    "survey": "# Survey\n\nHowever, other trials saw no effect of vitamin D on influenza at all.",
    "tides": "# Tides\n\nThe moon raises two bulges of water. The earth turns below them.",
}


def suite(name: str = "lay-summaries", **changes: Any) -> Suite:
    return Suite.model_validate({**load_suite(name).model_dump(), **changes})


def session(rag: DiscoRAG, home: Path, suite: Suite, *, data: Path = FIXTURES, **models: Any) -> Session:
    return Session(suite, Place(data=data, home=home), rag, MetricModels(**models), QUIET)


def whole(doc: str, label: str) -> Gold:
    """Gold evidence that is the whole document."""
    return Gold(label=label, anywhere=(DocSpan(doc=doc, span=Span(start=0, end=len(TEXTS[doc]))),))


def toy(*queries: str) -> Benchmark:
    """Three documents, and a question ``q1``, ``q2``, ... for each query; the trial is its gold evidence."""
    documents = {k: SourceDocument(id=k, title=k, text=t) for k, t in TEXTS.items()}
    samples = tuple(
        Sample(
            id=f"q{i}", query=q, documents=("trial", "survey"), references=("12 %",), gold=(whole("trial", "trial"),)
        )
        for i, q in enumerate(queries, start=1)
    )
    return Benchmark(name="toy", documents=documents, samples=samples)


async def answer_toy(
    rag: DiscoRAG,
    home: Path,
    benchmark: Benchmark,
    names: Sequence[str],
    *,
    metrics: Sequence[Metric] = (),
    concurrency: int = 1,
    **changes: Any,
) -> tuple[Record, ...]:
    """Run these systems on the benchmark, as far as they are not recorded below ``home``."""
    answerer = Answerer(suite("nq-open-oracle", **changes), await ingest(rag, benchmark, home), rag, benchmark.samples)
    with RunFolder.open(home / "run", "k1") as folder:
        folder.write_run(a_run())
        chosen = [find_system(n) for n in names]
        await Runner(benchmark, answerer, chosen, metrics, folder, lambda _: None, concurrency).run()
        return folder.records()
