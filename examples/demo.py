"""The demo: ingest the example corpora, answer three questions, show what the answers rest on."""

from __future__ import annotations

import tomllib
from pathlib import Path

from rich.console import Console, Group
from rich.rule import Rule
from rich.text import Text

from discorag import DiscoRAG
from discorag.discourse.formats.text import tree_text
from interfaces.cli.present import IngestProgress, ingest_summary, ledger_table
from interfaces.views.terminal import answer_text, graph_text, plan_text

EXAMPLES = Path(__file__).parent


def main() -> None:
    """Ingest every corpus that a demo question needs; ask; print answer, plan, graph, one tree and the ledger."""
    console = Console()
    questions = tomllib.loads((EXAMPLES / "questions.toml").read_text(encoding="utf-8"))["question"]
    with DiscoRAG() as rag:
        for question in questions:
            corpus = question["corpus"]
            console.print(Rule(f"{corpus}: {question['text']}"))
            with IngestProgress(console) as progress:
                ingested = rag.ingest(EXAMPLES / corpus, corpus=corpus, progress=progress.on_event)
            console.print(ingest_summary(ingested))
            show(rag, console, question["text"], corpus)
    again = f'disco-rag ask "{questions[0]["text"]}" --corpus {questions[0]["corpus"]}'
    console.print(Text(f"Ask on: {again}; disco-rag corpora lists what there is.", style="bold"))
    console.print(Text("Your own documents: disco-rag ingest FOLDER, then disco-rag ask QUESTION.", style="bold"))


def show(rag: DiscoRAG, console: Console, question: str, corpus: str) -> None:
    """Ask and print everything that led to the answer."""
    result = rag.ask(question, corpus=corpus)
    chunks = tuple(rag.backends.store.chunks(rag.scope(corpus=corpus), [h.chunk_id for h in result.hits]))
    console.print(answer_text(result.answer))
    if result.answer.plan:
        console.print(Group(Text("\nPlan", style="bold"), plan_text(result.answer.plan)))
    if result.graph:
        console.print(Group(Text("\nRhetorical graph", style="bold"), graph_text(result.graph, chunks, result.answer)))
    console.print(
        Group(Text("\nRST tree of chunk 1", style="bold"), Text(tree_text(chunks[0]))),
        ledger_table(result.ledger, seconds=result.seconds),
    )


if __name__ == "__main__":
    main()
