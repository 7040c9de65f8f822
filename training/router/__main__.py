"""RDR²'s router: examples to train it on, and the measures of its actions on held-out questions.

``python -m training.router examples qasper train.jsonl`` writes examples, ``python -m training.sft train.jsonl MODEL
OUT --rank 8 --rate 1e-5`` trains by LoRA with the paper's numbers. Serve the model, name it by
``DISCO_RAG_MODELS__ROUTER``, and ``python -m training.router score qasper`` measures it. Where a dataset has parts
(`eval.splits`), examples are of ``train``, measures of ``score``.
"""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from discorag.config import read_settings
from discorag.retrieval.retrievers import PASSAGES
from discorag.retrieval.routers.prompted import router_of
from discorag.retrieval.routers.walk import Decision, RetrievalSubtree, Router
from eval.datasets.registry import load_benchmark
from eval.options import data_folder
from eval.running.session import open_pipeline
from eval.sample import Benchmark
from eval.splits import Part, groups
from eval.suite import choose, load_suite
from training.router.examples import label, steps, write
from training.router.score import COLUMNS, score

HOME = Path(".disco-rag/router")

app = typer.Typer(no_args_is_help=True, help=__doc__, add_completion=False)
SuiteName = Annotated[str, typer.Argument(help="A suite of documents with headings and gold evidence, such as qasper.")]
Passages = Annotated[int, typer.Option(min=1, help="Passages that are retrieved for a question.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Questions.")]
Home = Annotated[Path, typer.Option(help="Where documents are stored.")]
Data = Annotated[Path | None, typer.Option(help="Folder of the datasets (default: DISCO_RAG_DATA).")]


class Refusing:
    """A router that always refuses."""

    async def decide(self, question: str, subtree: RetrievalSubtree) -> Decision:
        """Refuse."""
        return Decision()


@app.command()
def examples(
    suite: SuiteName,
    to: Annotated[Path, typer.Argument(help="JSON lines.")],
    by: Annotated[
        Literal["answers", "model"], typer.Option(help="From gold evidence, or by the configured router (C.1).")
    ] = "answers",
    passages: Passages = PASSAGES,
    limit: Limit = None,
    home: Home = HOME,
    data: Data = None,
) -> None:
    """Write examples, and print how many of each action there are."""
    with closing(open_pipeline(read_settings(), home)) as rag:
        found = asyncio.run(steps(rag, benchmark_of(suite, "train", limit, data), home, passages))
        found = asyncio.run(label(rag, found, by_a_model=by == "model"))
    typer.echo(", ".join(f"{kind}: {n}" for kind, n in sorted(write(found, to).items())))


@app.command("score")
def score_routers(
    suite: SuiteName, passages: Passages = PASSAGES, limit: Limit = None, home: Home = HOME, data: Data = None
) -> None:
    """The configured router, and one that always refuses, which it has to beat."""
    with closing(open_pipeline(read_settings(), home)) as rag:
        found = asyncio.run(steps(rag, benchmark_of(suite, "score", limit, data), home, passages))
        found = asyncio.run(label(rag, found, by_a_model=False))
        routers: dict[str, Router] = {"refuses always": Refusing(), "configured": router_of(rag.backends)}
        table = Table("router", *COLUMNS, title=f"{suite}: {len(found)} steps")
        for name, router in routers.items():
            table.add_row(name, *asyncio.run(score(router, found)).row())
    Console().print(table)


def benchmark_of(name: str, part: Part, limit: int | None, data: Path | None) -> Benchmark:
    """The suite's questions of a part, or all where the dataset has no parts, over their documents only."""
    suite = load_suite(name)
    benchmark = load_benchmark(suite.dataset, (data or data_folder()) / suite.path)
    try:
        wanted = groups(suite.dataset, part)
    except FileNotFoundError:
        wanted = None
    samples = [s for s in benchmark.samples if s.gold and (wanted is None or set(s.documents) & wanted)]
    return benchmark.narrow(choose(samples, suite.model_copy(update={"limit": limit})))


if __name__ == "__main__":
    app()
