"""Does relation-filtered retrieval find more? ``python -m bench.relations.following`` on FairytaleQA.

For every question that asks for a relation by its words: how much of its gold sections the best three chunks of its
tale hold, with ``follow``, without, and with a control that follows to neighbours in the text instead. Writes
``bench/results/following.json``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from discorag.models.encoder import PackagedEncoder
from discorag.models.memo import MemoEncoder
from discorag.relations.follow import WIDER, followed, wanted
from discorag.relations.learned import LearnedGraphEngine
from discorag.rst.trained.parser import TrainedParser
from discorag.text.chunks import cut_chunks
from discorag.text.headings import build_hierarchy
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.document import Document, Scope
from discorag.types.span import Span
from discorag.types.vectors import Vectors
from eval.datasets.fairytaleqa import load_fairytaleqa
from eval.options import data_folder
from eval.reporting.stats import paired
from eval.sample import Sample, SourceDocument

OUT = Path("bench/results/following.json")
_CHUNK_TOKENS, _TOP_K = 100, 3


@dataclass
class Recall:
    """Shares of the gold text that were found, question by question."""

    search: list[float] = field(default_factory=list[float])
    follow: list[float] = field(default_factory=list[float])
    neighbours: list[float] = field(default_factory=list[float])
    changed: int = 0


async def add(found: Recall, tale: SourceDocument, samples: Sequence[Sample], encoder: MemoEncoder) -> None:
    """Count the questions about one tale."""
    asking = [s for s in samples if wanted(s.query)]
    chunks = _cut(tale, encoder) if asking else []
    if len(chunks) <= 2 * _TOP_K:
        return
    vectors = await encoder.encode_documents([c.text for c in chunks])
    parser = TrainedParser()
    parsed = [c.model_copy(update={"tree": (await parser.parse(c)).tree}) for c in chunks]
    for sample in asking:
        await _ask(found, sample, parsed, vectors, encoder)


def _cut(tale: SourceDocument, encoder: MemoEncoder) -> list[Chunk]:
    document = Document(uri=tale.id, title=tale.title, text=tale.text)
    return cut_chunks(
        document,
        build_hierarchy(document),
        scope=Scope(),
        fingerprint=tale.id,
        counter=encoder.tokens,
        chunk_tokens=_CHUNK_TOKENS,
    )


async def _ask(found: Recall, sample: Sample, chunks: Sequence[Chunk], vectors: Vectors, encoder: MemoEncoder) -> None:
    asked = wanted(sample.query)
    assert asked
    scores = vectors @ await encoder.encode_query(sample.query)
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    best = [chunks[i] for i in order[: WIDER * _TOP_K]]
    graph = (await LearnedGraphEngine(encoder).relate(Case(query=sample.query, chunks=tuple(best)))).value
    chosen = followed(best, graph, asked, _TOP_K)
    given = sum(i >= _TOP_K for i in chosen)
    orders = {c.order for c in best[:_TOP_K]}
    near = [i for i, c in enumerate(best) if i >= _TOP_K and {c.order - 1, c.order + 1} & orders][:given]
    gold = [g.anywhere[0].span for g in sample.gold]
    found.search.append(_covered(best[:_TOP_K], gold))
    found.follow.append(_covered([best[i] for i in chosen], gold))
    found.neighbours.append(_covered([best[i] for i in (*range(_TOP_K - len(near)), *near)], gold))
    found.changed += given > 0


def _covered(chunks: Sequence[Chunk], gold: Sequence[Span]) -> float:
    shared = sum(max(0, min(g.end, c.span.end) - max(g.start, c.span.start)) for g in gold for c in chunks)
    return shared / sum(g.end - g.start for g in gold)


def main(
    part: Annotated[str, typer.Option(help="val or test: FairytaleQA's own.")] = "test",
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
) -> None:
    """Measure, show, write."""
    console, found = Console(), Recall()
    folder = data_folder() / "fairytaleqa"
    benchmark = load_fairytaleqa(folder)
    tales = {p.name.removesuffix("-questions.csv") for p in (folder / "questions" / part).glob("*-questions.csv")}
    encoder = MemoEncoder(PackagedEncoder())
    for tale in track(sorted(tales & benchmark.documents.keys()), description="tales"):
        samples = [s for s in benchmark.samples if tale in s.documents and s.gold]
        asyncio.run(add(found, benchmark.documents[tale], samples, encoder))
    result: dict[str, Any] = {
        "part": part,
        "questions": len(found.search),
        "changed": found.changed,
        "recall_search": round(float(np.mean(found.search)), 4),
        "recall_follow": round(float(np.mean(found.follow)), 4),
        "recall_neighbours": round(float(np.mean(found.neighbours)), 4),
    }
    for name, other in (("search", found.search), ("neighbours", found.neighbours)):
        p = paired(found.follow, other, seed=1)
        assert p.interval
        result[f"follow_minus_{name}"] = [round(x, 4) for x in (p.difference, p.interval.low, p.interval.high)]
    console.print_json(data=result)
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
