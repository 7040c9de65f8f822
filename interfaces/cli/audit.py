"""``disco-rag audit``: where a folder of documents disagrees, and why."""

from __future__ import annotations

import json
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from discorag.config import read_settings
from discorag.ingest.survey import Status
from discorag.schema.errors import InputError
from discorag.text.escaping import one_line
from interfaces.cli.present import AuditProgress, IngestProgress, name_and_note
from interfaces.facade import DiscoRAG
from interfaces.views.audit import audit_html, audit_sarif, audit_text

out, err = Console(), Console(stderr=True)


class Format(StrEnum):
    """How the report is written."""

    TEXT = "text"
    HTML = "html"
    JSON = "json"
    SARIF = "sarif"


def audit(
    folder: Annotated[Path | None, typer.Argument(help="Folder that is ingested first, without trees.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Corpus to audit (default: the folder's name).")] = None,
    against: Annotated[Path | None, typer.Option(help="Compare the folder with this one, and nothing else.")] = None,
    since: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only documents stored since.")] = None,
    format_: Annotated[Format, typer.Option("--format", help="How to print the report.")] = Format.TEXT,
) -> None:
    """``disco-rag audit``."""
    if folder is None and (corpus is None or against is not None):
        raise InputError("There is nothing to audit.", hint="Name a folder, or a corpus with --corpus.")
    name = corpus or (folder.resolve().name if folder else None)
    other = against.resolve().name if against else None
    if other is not None and other == name:
        hint = "Name the first one's corpus with --corpus."
        raise InputError(f"Both folders would be stored as corpus {name!r}.", hint=hint)
    with DiscoRAG(read_settings()) as rag:
        for path in filter(None, (folder, against)):
            with IngestProgress(err) as ingest:
                result = rag.ingest_for_audit(path, corpus=name if path is folder else None, progress=ingest.on_event)
            for skipped in (o for o in result.outcomes if o.status is Status.SKIPPED):
                note = name_and_note(one_line(skipped.uri, 200), one_line(skipped.note, 400))
                err.print(Text(f"Skipped: {note}"), soft_wrap=True)
        with AuditProgress(err) as bar:
            report = rag.audit(corpus=name, against=other, progress=bar.on_document)
    report = report.since(since.date()) if since else report
    match format_:
        case Format.TEXT:
            out.print(audit_text(report), soft_wrap=True)
        case Format.HTML:
            typer.echo(audit_html(report), nl=False)
        case Format.JSON:
            typer.echo(report.model_dump_json(indent=2))
        case Format.SARIF:
            typer.echo(json.dumps(audit_sarif(report), ensure_ascii=False, indent=2))
    if report.contradictions:
        raise typer.Exit(1)
