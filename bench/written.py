"""A small language model over WikiContradict: standard RAG and the written profile, both over a question's passages.

Usage: ``DISCO_RAG_MODEL=http://HOST:PORT/v1#NAME python -m bench.written --home FOLDER``. Each question's answers are a
line of FOLDER/written.jsonl, so a run that was stopped can be resumed, and read by a person.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from bench import report
from bench.answers.replies import complete_lines
from bench.answers.scores import sides_held
from bench.answers.sets import restrict, spread
from bench.stats import mean
from discorag import DiscoRAG
from discorag.config import StoreSettings, read_settings
from discorag.options import WHOLE_CHUNKS
from eval.datasets.wikicontradict import load_wikicontradict
from eval.options import data_folder
from eval.running.corpus import Corpus, ingest
from eval.sample import Benchmark, DocSpan, Sample
from interfaces.facade import AskResult

HOME = Path(".disco-rag/bench/written")
QUESTIONS = 60
SYSTEMS: dict[str, dict[str, Any]] = {
    "verbatim": {"profile": "verbatim"},
    "standard": {"use_tree": False, "use_graph": False, "use_plan": False, "abstain": "never"},
    "written": {},
}
"""Options of each system; all read the same passages in the same order."""


def ask(rag: DiscoRAG, benchmark: Benchmark, home: Path) -> Iterator[dict[str, Any]]:
    """What each system answers to each question; the order of the last two alternates."""
    corpus = rag.run(lambda: ingest(rag, benchmark, home))
    path = home / "written.jsonl"
    known = {row["id"]: row for row in map(json.loads, complete_lines(path))}
    for i, sample in enumerate(benchmark.samples):
        row: dict[str, Any] = known.get(sample.id) or {"id": sample.id, "query": sample.query}
        if sample.id not in known:
            filters = {"doc_id": [corpus.stored[name] for name in sample.documents]}
            for name in ["verbatim", *(("written", "standard") if i % 2 == 0 else ("standard", "written"))]:
                found = rag.ask(sample.query, corpus=corpus.name, filters=filters, **WHOLE_CHUNKS, **SYSTEMS[name])
                row[name] = outcome(found, corpus, sample)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        yield row


def outcome(result: AskResult, corpus: Corpus, sample: Sample) -> dict[str, Any]:
    """An answer and its counts: of ``sides``, a supported sentence rests on the passage's statement."""
    answer = result.answer
    supported = [e for s in answer.sentences if s.supported for e in s.evidence]
    places = [DocSpan(doc=corpus.known[e.doc_id], span=e.span) for e in supported]
    return {
        "draft": result.draft,
        "refused": bool(answer.abstained),
        "by_model": any(s.stage == "generate" and s.engine == "llm" for s in result.ledger.stages),
        "sides": sides_held(sample, places),
        "sentences": len(answer.sentences),
        "supported": sum(s.supported for s in answer.sentences),
        "unsupported": len(answer.unsupported),
        "seconds": result.seconds,
        "tokens_in": result.ledger.usage.tokens_in,
        "tokens_out": result.ledger.usage.tokens_out,
    }


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over questions of each system, and paired differences of the last two."""
    values = {name: [_figures_of(row[name]) for row in rows] for name in SYSTEMS}
    found: dict[str, Any] = {
        name: {key: mean([v[key] for v in of_system], digits=1) for key in of_system[0]}
        for name, of_system in values.items()
    }
    pairs = list(zip(values["written"], values["standard"], strict=True))
    found["written - standard"] = {key: mean([w[key] - s[key] for w, s in pairs], digits=1) for key in pairs[0][0]}
    return {"questions": len(rows), **found}


def _figures_of(row: dict[str, Any]) -> dict[str, float]:
    return {
        "both_sides": 100.0 * (row["sides"] == 2),
        "not_supported": 100.0 * (row["sentences"] - row["supported"]) / max(1, row["sentences"]),
        "sentences": row["sentences"],
        "refused": 100.0 * row["refused"],
        "seconds": row["seconds"],
    }


def main(
    home: Annotated[Path, typer.Option(help="Folder of documents, store and answers.")] = HOME,
    limit: Annotated[int, typer.Option(help="The first so many questions.")] = QUESTIONS,
    out: Annotated[Path, typer.Option(help="Result file.")] = Path("bench/results/written.json"),
) -> None:
    """Ask, count, write, show."""
    full = load_wikicontradict(data_folder() / "contradiction/wikicontradict/wiki_contradict_refined.jsonl")
    benchmark = restrict(full, spread(full.samples, QUESTIONS))
    store = StoreSettings(kind="edge", path=home.absolute() / "store", url=None)
    with DiscoRAG(read_settings().model_copy(update={"store": store})) as rag:
        answers = ask(rag, benchmark, home)
        rows = [row for _, row in zip(range(limit), answers, strict=False)]
    Console().print(report.table(report.write(out, figures(rows)).figures))


if __name__ == "__main__":
    typer.run(main)
