"""What ``ask`` reports: over documents that do not contradict each other, and over two that do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.progress import Progress

from bench.answers.asked import Asker, filters_of
from bench.answers.sets import Run, own, runs
from bench.disagreement.wikicontradict import Item, items, sentences, stating
from discorag import DiscoRAG
from discorag.types.answer import Disagreement
from discorag.types.ids import digest
from discorag.types.span import Span
from eval.running.corpus import Corpus
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument
from graphs.facade import AskResult

CALM = ("fairytaleqa/with", "hotpotqa/own", "qasper/own", "nq/own")
"""Runs of `bench.answers`: several tales, ten paragraphs, a paper, passages of Wikipedia."""
MARKED = "nq/own"
"""Where a report may be right: hand marks by the digest of its two sentences say which."""
MARKS = Path(__file__).parent / "marks.json"


def false_reports(rag: DiscoRAG, home: Path, data: Path, limit: int | None, progress: Progress) -> dict[str, Any]:
    """Answers in a hundred that report a disagreement where there is none."""
    asker, marks = Asker(rag, home, progress), json.loads(MARKS.read_text("utf-8"))
    told: dict[str, Any] = {"answers": 0, "false": 0, "unmarked": 0}
    with (home / "reports.jsonl").open("w", encoding="utf-8") as file:
        for run in runs(data, ["removed", "first_sentence"]):
            if run.name in CALM:
                found = list(_asked(rag, asker.ingested(run), run, limit, progress))
                file.writelines(_line(run, pair) for result in found for pair in result.answer.disagreements)
                wrong = [_is_false(run.name, result, marks) for result in found]
                own_figures = told.setdefault(run.name, {"answers": 0, "false": 0})
                for figures in (told, own_figures):
                    figures["answers"] += len(found)
                    figures["false"] += sum(wrong)
                told["unmarked"] += sum(_unmarked(run.name, result, marks) for result in found)
    told["false_per_100_answers"] = round(100 * told["false"] / told["answers"], 2)
    return told


def _asked(rag: DiscoRAG, corpus: Corpus, run: Run, limit: int | None, progress: Progress) -> Iterator[AskResult]:
    for sample in progress.track(run.benchmark.samples[:limit], description=run.name):
        yield rag.ask(sample.query, filters=filters_of(run, sample, corpus), corpus=corpus.name, **run.switches)


def pair_id(pair: Disagreement) -> str:
    """A digest of its two sentences."""
    return digest("\n".join(sorted((pair.a.text, pair.b.text))))[:16]


def _line(run: Run, pair: Disagreement) -> str:
    said: dict[str, str] = {
        "run": run.name,
        "id": pair_id(pair),
        "relation": pair.relation,
        "a": pair.a.text,
        "b": pair.b.text,
    }
    return json.dumps(said, ensure_ascii=False) + "\n"


def _is_false(run: str, result: AskResult, marks: Mapping[str, bool]) -> bool:
    pairs = result.answer.disagreements
    return any(not marks.get(pair_id(p), False) if run == MARKED else True for p in pairs)


def _unmarked(run: str, result: AskResult, marks: Mapping[str, bool]) -> int:
    return sum(run == MARKED and pair_id(p) not in marks for p in result.answer.disagreements)


def both_sides(rag: DiscoRAG, home: Path, data: Path, limit: int | None, progress: Progress) -> dict[str, Any]:
    """Whether answers over the two passages of WikiContradict hold both statements, and report them."""
    between = [item for item in items(data) if not item.within][:limit]
    benchmark = benchmark_of(between)
    run = Run("wikicontradict/own", benchmark, own)
    corpus = Asker(rag, home, progress).ingested(run)
    found = list(_asked(rag, corpus, run, None, progress))
    sides = [held(sample, result, corpus.known) for sample, result in zip(benchmark.samples, found, strict=True)]
    reported = [bool(result.answer.disagreements) for result in found]
    counted = {f"holds_{name}": sides.count(n) for name, n in (("both", 2), ("one", 1), ("none", 0))}
    return {
        "items": len(found),
        **counted,
        "reported": sum(reported),
        "refused": sum(bool(r.answer.abstained) for r in found),
    }


def benchmark_of(between: Iterable[Item]) -> Benchmark:
    """The questions over their two passages, with the two statements as gold evidence."""
    documents: dict[str, SourceDocument] = {}
    samples: list[Sample] = []
    for number, item in enumerate(between):
        ids = tuple(digest(passage)[:12] for passage in item.passages)  # a passage may stand in several items
        for name, passage in zip(ids, item.passages, strict=True):
            documents[name] = SourceDocument(id=name, title=f"Passage {name}", text=passage)
        gold = tuple(_gold(n, p, c) for n, p, c in zip(ids, item.passages, item.contexts, strict=True))
        samples.append(Sample(id=f"{number:03}", query=item.question, documents=ids, gold=gold))
    return Benchmark(name="wikicontradict", documents=documents, samples=tuple(samples))


def _gold(name: str, passage: str, context: str) -> Gold:
    found = sentences(passage)
    places: list[DocSpan] = []
    for i in sorted(stating(found, context)):
        start = passage.index(found[i])
        places.append(DocSpan(doc=name, span=Span(start=start, end=start + len(found[i]))))
    return Gold(label=name, anywhere=tuple(places))


def held(sample: Sample, result: AskResult, known: Mapping[str, str]) -> int:
    """How many of the two statements the answer has evidence from."""
    places = [DocSpan(doc=known[e.doc_id], span=e.span) for s in result.answer.sentences for e in s.evidence]
    return sum(any(_meets(place, gold) for place in places) for gold in sample.gold)


def _meets(place: DocSpan, gold: Gold) -> bool:
    return any(
        place.doc == g.doc and place.span.start < g.span.end and g.span.start < place.span.end for g in gold.anywhere
    )
