"""What graph and plan do for a small language model: WikiContradict's questions, four systems, the same evidence.

Usage: ``python -m bench.disagreement.small_model [--limit N] [--out FILE] [--home FOLDER]``, with the settings of a
language model (``DISCO_RAG_LLM__BASE_URL``, ``DISCO_RAG_LLM__MODEL``). Answers are kept below HOME as they come, so a
run that was stopped goes on. Each question is asked over its two passages and `DISTRACTORS` others;
``relater=shuffled`` is the local engine's graph with its passages exchanged.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.answers.__main__ import COLUMNS, HOME
from bench.answers.replies import Asker, package_version
from bench.answers.scores import sides_held
from bench.answers.sets import Run, restrict, wikicontradict
from discorag import DiscoRAG
from discorag.models.toolbox import Toolbox
from discorag.relations.engine import GraphEngine, register_relation_engine
from discorag.relations.learned import learned_engine
from discorag.settings import Settings, StoreSettings
from discorag.types.case import Case, Outcome
from discorag.types.errors import ConfigError
from discorag.types.graph import Edge, RhetoricalGraph
from eval.options import data_folder
from eval.reporting.stats import mean_interval
from eval.running.corpus import Corpus
from eval.sample import DocSpan, Sample
from graphs.facade import AskResult

OUT = Path("bench/results/small-model.json")
QUESTIONS = 60
DISTRACTORS = 4
SAME: dict[str, Any] = {"retriever": "dense", "top_k": 2 + DISTRACTORS, "abstain": "never", "layout": "plain"}
LOCAL: dict[str, Any] = {"relater": "local", "planner": "local"}
SYSTEMS: dict[str, dict[str, Any]] = {
    "standard": {"generator": "llm", "use_tree": False, "use_graph": False, "use_plan": False},
    "planned": {"generator": "llm", **LOCAL},
    "shuffled": {"generator": "llm", **LOCAL, "relater": "shuffled"},
    "extractive": {"generator": "local", **LOCAL},
}


Counts = dict[str, float]


@dataclass(frozen=True)
class Shuffled:
    """The edges of another engine's graph, between other passages: each takes the place of one drawn by lot."""

    engine: GraphEngine

    async def relate(self, case: Case) -> Outcome[RhetoricalGraph]:
        """As many edges of the same relations; none keeps the sentences that carry it."""
        outcome = await self.engine.relate(case)
        graph = outcome.value
        if len(graph.chunks) < 2:
            return outcome
        drawn = list(graph.chunks)
        random.Random(case.query).shuffle(drawn)
        to = dict(zip(graph.chunks, drawn, strict=True))
        edges = tuple(Edge(source=to[e.source], target=to[e.target], relation=e.relation) for e in graph.edges)
        return replace(outcome, value=RhetoricalGraph(chunks=graph.chunks, edges=edges))


def shuffled_engine(tools: Toolbox) -> Shuffled:
    """For the registry."""
    return Shuffled(learned_engine(tools))


def counted(sample: Sample, result: AskResult, known: Mapping[str, str]) -> Counts:
    """Of an answer: whether it holds both sides, tells one as the whole truth; how much of it nothing supports."""
    told = result.answer.sentences
    sides = sides_held(sample, [DocSpan(doc=known[e.doc_id], span=e.span) for s in told for e in s.evidence])
    return {
        "both": float(sides == 2),
        "one_as_whole": float(sides == 1),
        "unsupported": len(result.answer.unsupported) / max(1, len(told)),
        "sentences": float(len(told)),
        "reported": float(bool(result.answer.disagreements)),
        "failures": float(len(result.ledger.failures)),
    }


def asked(rag: DiscoRAG, home: Path, limit: int, progress: Progress) -> dict[str, list[Counts]]:
    """`counted` of each question, by system; those on disk, and the rest asked now."""
    [run] = wikicontradict(data_folder())
    benchmark = restrict(run.benchmark, run.benchmark.samples[:QUESTIONS])
    corpus = Asker(rag, home, progress).ingest(Run(run.name, benchmark, run.within))
    names, path = sorted(benchmark.documents), home / "small-model.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    known: dict[str, dict[str, Counts]] = {k: v for line in lines for k, v in json.loads(line).items()}
    for sample in progress.track(benchmark.samples[:limit], description="questions"):
        if sample.id not in known:
            known[sample.id] = _answers(rag, sample, _over(sample, names, corpus), corpus)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({sample.id: known[sample.id]}) + "\n")
    return {name: [known[s.id][name] for s in benchmark.samples[:limit]] for name in SYSTEMS}


def _answers(rag: DiscoRAG, sample: Sample, over: list[str], corpus: Corpus) -> dict[str, Counts]:
    found: dict[str, Counts] = {}
    for name, switches in SYSTEMS.items():
        result = rag.ask(sample.query, corpus=corpus.name, filters={"doc_id": over}, **SAME, **switches)
        found[name] = counted(sample, result, corpus.known)
    return found


def _over(sample: Sample, names: Sequence[str], corpus: Corpus) -> list[str]:
    others = [name for name in names if name not in sample.documents]
    drawn = random.Random(sample.id).sample(others, min(DISTRACTORS, len(others)))
    return [corpus.stored[name] for name in (*sample.documents, *drawn)]


Figures = dict[str, dict[str, list[float]]]


def figures(found: Mapping[str, Sequence[Mapping[str, float]]]) -> Figures:
    """Means with intervals, and those of ``planned`` less each other system's, question by question."""
    told: Figures = {}
    for name, rows in found.items():
        told[name] = {key: _interval([row[key] for row in rows]) for key in rows[0]}
        if name != "planned":
            pairs = list(zip(found["planned"], rows, strict=True))
            told[f"planned - {name}"] = {key: _interval([a[key] - b[key] for a, b in pairs]) for key in rows[0]}
    return told


def _interval(values: Sequence[float]) -> list[float]:
    """Mean, and the ends of its 95 % interval."""
    found = mean_interval(values, seed=0)
    mean = sum(values) / len(values)
    return [round(v, 3) for v in ((mean, found.low, found.high) if found else (mean,))]


def shown(told: Figures, questions: int) -> Table:
    """A row a system or a difference."""
    table = Table(f"{questions} questions", *told["planned"])
    for name, row in told.items():
        table.add_row(name, *(" ".join(map(str, value)) for value in row.values()))
    return table


def main(
    limit: Annotated[int, typer.Option(help="The first so many questions.")] = QUESTIONS,
    out: Annotated[Path, typer.Option(help="Result file.")] = OUT,
    home: Annotated[Path, typer.Option(help="Folder of documents and store.")] = HOME,
) -> None:
    """Ask, count, write, show."""
    settings = Settings.model_validate({"store": StoreSettings(kind="edge", path=home / "store", url=None)})
    if settings.llm.base_url is None:
        raise ConfigError("No language model to measure.", hint="Set DISCO_RAG_LLM__BASE_URL and DISCO_RAG_LLM__MODEL.")
    register_relation_engine("shuffled", shuffled_engine, help="the local graph between other passages")
    with DiscoRAG(settings) as rag, Progress(*COLUMNS) as progress:
        found = asked(rag, home, limit, progress)
    told, questions = figures(found), len(found["planned"])
    said = {"package": package_version(), "model": settings.llm.model, "questions": questions, "figures": told}
    out.write_text(json.dumps(said | {"answers": found}, indent=1) + "\n", "utf-8")
    Console().print(shown(told, questions))


if __name__ == "__main__":
    typer.run(main)
