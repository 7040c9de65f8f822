"""``disco-rag demo``: three questions over the example documents, then the page."""

import tomllib
from typing import Annotated

import typer
from rich.rule import Rule
from rich.text import Text

from discorag.config import read_settings
from interfaces.cli.present import Bar, ingest_summary, out, plan_section
from interfaces.cli.serving import serve_page
from interfaces.facade import EXAMPLES, DiscoRAG
from interfaces.views.terminal import answer_text


def demo(
    page: Annotated[bool, typer.Option(help="Open the page in the browser afterwards.")] = True,
    port: Annotated[int | None, typer.Option(help="Port of the page (default: as configured).")] = None,
) -> None:
    """``disco-rag demo``."""
    settings = read_settings()
    questions = tomllib.loads((EXAMPLES / "questions.toml").read_text(encoding="utf-8"))["question"]
    with DiscoRAG(settings) as rag:
        for number, question in enumerate(questions):
            corpus, text = question["corpus"], question["text"]
            out.print(Rule(f"{corpus}: {text}"))
            with Bar("Ingest") as progress:
                ingested = rag.ingest(EXAMPLES / corpus, corpus=corpus, progress=progress.on_event)
            out.print(ingest_summary(ingested), "")
            result = rag.ask(text, corpus=corpus)
            out.print(answer_text(result.answer), "")
            if number == 0:
                out.print(plan_section(result), "")
    first = questions[0]
    lines = (
        f"Stored in {settings.home}.",
        f'Ask again:            disco-rag ask "{first["text"]}" --corpus {first["corpus"]}',
        "Your own documents:   disco-rag ingest FOLDER, then disco-rag ask QUESTION",
        "Where they disagree:  disco-rag audit FOLDER",
        "In the browser:       disco-rag serve",
    )
    out.print(*(Text(line) for line in lines), sep="\n", soft_wrap=True)
    if page:
        serve_page(settings, port=port, opens=True)
