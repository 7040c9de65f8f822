"""``disco-rag audit``: where a folder of documents disagrees, and why."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from discorag.config import read_settings
from discorag.ingest.survey import Status
from discorag.schema.errors import InputError
from discorag.text.escaping import one_line
from interfaces.cli.present import Bar, err, name_and_note, out, print_json
from interfaces.facade import DiscoRAG
from interfaces.views.audit import audit_html, audit_sarif, audit_text


def audit(
    folder: Annotated[Path | None, typer.Argument(help="Folder that is ingested first, without trees.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Corpus to audit (default: the folder's name).")] = None,
    against: Annotated[Path | None, typer.Option(help="Compare the folder with this one, and nothing else.")] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only documents stored since this day.")
    ] = None,
    format_: Annotated[
        Literal["text", "html", "json", "sarif"], typer.Option("--format", help="How to print the report.")
    ] = "text",
) -> None:
    """``disco-rag audit``."""
    if folder is None and (corpus is None or against is not None):
        raise InputError("There is nothing to audit.", hint="Name a folder, or a corpus with --corpus.")
    name = corpus or (folder.resolve().name if folder else None)
    other = against.resolve().name if against else None
    if other is not None and other == name:
        hint = "Name the first one's corpus with --corpus."
        raise InputError(f"Both folders would be stored as corpus {name!r}.", hint=hint)
    unread = 0
    with DiscoRAG(read_settings()) as rag:
        for path in filter(None, (folder, against)):
            with Bar("Ingest") as ingest:
                result = rag.ingest_for_audit(path, corpus=name if path is folder else None, progress=ingest.on_event)
            for outcome in (o for o in result.outcomes if o.status in {Status.SKIPPED, Status.FAILED}):
                note = name_and_note(one_line(outcome.uri, 200), one_line(outcome.note, 400))
                err.print(Text(f"{outcome.status.value.capitalize()}: {note}"), soft_wrap=True)
                unread += outcome.status is Status.FAILED
        with Bar("Audit") as bar:
            report = rag.audit(corpus=name, against=other, progress=bar.show)
    report = report.since(since.date()) if since else report
    match format_:
        case "text":
            out.print(audit_text(report), soft_wrap=True)
        case "html":
            typer.echo(audit_html(report), nl=False)
        case "json":
            print_json(report)
        case "sarif":
            print_json(audit_sarif(report))
    if unread:
        err.print(Text(f"Not complete: {unread} of the files could not be read."), soft_wrap=True)
    if unread or report.contradictions:
        raise typer.Exit(1)
