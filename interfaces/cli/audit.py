"""``disco-rag audit``: ingest a folder, compare its documents, settle findings, and report the others."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from discorag.config import read_settings
from discorag.ingest.survey import Status
from discorag.schema.errors import InputError
from discorag.schema.values import amount
from discorag.text.escaping import one_line
from interfaces.audit import AuditReport
from interfaces.cli.git_changes import files_changed_since
from interfaces.cli.present import Bar, err, json_text, name_and_note, out
from interfaces.facade import DiscoRAG
from interfaces.settled import NAME, FolderAudit
from interfaces.views.audit import audit_html, audit_text
from interfaces.views.code_review import audit_junit, audit_markdown, audit_sarif

_WRITERS: dict[str, Callable[[AuditReport, Path], str]] = {
    "html": lambda report, _: audit_html(report),
    "json": lambda report, _: json_text(report),
    "sarif": lambda report, root: json_text(audit_sarif(report, root)),
    "junit": audit_junit,
    "markdown": audit_markdown,
}
_SUFFIXES = {".html": "html", ".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "markdown"}


def audit(
    folder: Annotated[Path | None, typer.Argument(help="Folder that is ingested first, without trees.")] = None,
    files: Annotated[list[Path] | None, typer.Argument(help="Report only what touches these of its files.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Corpus to audit (default: the folder's name).")] = None,
    against: Annotated[Path | None, typer.Option(help="Compare the folder with this one, and nothing else.")] = None,
    since: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only documents stored since this day.")
    ] = None,
    changed_since: Annotated[
        str | None, typer.Option(metavar="REF", help="Only files that differ from this commit or branch of git.")
    ] = None,
    settle: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"Settle this finding in {NAME}; repeatable.")
    ] = None,
    baseline: Annotated[bool, typer.Option(help="Settle all of today's findings.")] = False,
    note: Annotated[str, typer.Option(help="Why they are settled.")] = "",
    format_: Annotated[
        Literal["text", "html", "json", "sarif", "junit", "markdown"],
        typer.Option("--format", help="How to print the report."),
    ] = "text",
    write: Annotated[
        list[Path] | None,
        typer.Option("--out", help=f"Also write it into this file ({', '.join(_SUFFIXES)}); repeatable."),
    ] = None,
) -> None:
    """``disco-rag audit``."""
    if folder is None and (corpus is None or against is not None):
        raise InputError("There is nothing to audit.", hint="Name a folder, or a corpus with --corpus.")
    if folder is None and (settle or baseline or changed_since):
        raise InputError("Only the findings of a folder can be settled or chosen by git.", hint="Name the folder.")
    writers = {file: _writer_for(file) for file in write or []}
    report, failed = _run(folder, corpus, against)
    if folder is not None:
        report = _settle(FolderAudit(report, _home_of(folder)), settle or [], note, everything=baseline)
    if folder is not None and (files or changed_since):
        chosen = {file.resolve().as_posix() for file in files or []}
        chosen |= files_changed_since(changed_since, _home_of(folder)) if changed_since else set()
        report = report.about_files(chosen)
    report = report.since(since.date()) if since else report
    for file, writer in writers.items():
        file.write_text(writer(report, Path.cwd()), "utf-8")
    if format_ == "text":
        out.print(audit_text(report), soft_wrap=True)
    else:
        typer.echo(_WRITERS[format_](report, Path.cwd()).rstrip("\n"))
    if failed:
        err.print(Text(f"Not complete: {failed} of the files could not be read."), soft_wrap=True)
    if failed or report.contradictions:
        raise typer.Exit(1)


def _writer_for(file: Path) -> Callable[[AuditReport, Path], str]:
    """What writes a report into a file of this name. Raises `InputError` for another suffix."""
    if (format_ := _SUFFIXES.get(file.suffix.lower())) is None:
        raise InputError(f"--out {file}: the suffix says the format.", hint=f"Known: {', '.join(_SUFFIXES)}.")
    return _WRITERS[format_]


def _run(folder: Path | None, corpus: str | None, against: Path | None) -> tuple[AuditReport, int]:
    """The report, and how many files could not be read."""
    name = corpus or (folder.resolve().name if folder else None)
    other = against.resolve().name if against else None
    if other is not None and other == name:
        hint = "Name the first one's corpus with --corpus."
        raise InputError(f"Both folders would be stored as corpus {name!r}.", hint=hint)
    failed = 0
    with DiscoRAG(read_settings()) as rag:
        for path in filter(None, (folder, against)):
            failed += _ingest(rag, path, name if path is folder else None)
        with Bar("Audit") as bar:
            return rag.audit(corpus=name, against=other, progress=bar.show), failed


def _ingest(rag: DiscoRAG, path: Path, corpus: str | None) -> int:
    """Ingest a folder, say what was left out, and return how many files could not be read."""
    with Bar("Ingest") as bar:
        result = rag.ingest_for_audit(path, corpus=corpus, progress=bar.on_event)
    aside = [o for o in result.outcomes if o.status in {Status.SKIPPED, Status.FAILED}]
    for outcome in aside:
        note = name_and_note(one_line(outcome.uri, 200), one_line(outcome.note, 400))
        err.print(Text(f"{outcome.status.value.capitalize()}: {note}"), soft_wrap=True)
    if result.unread:
        err.print(Text(result.unread), soft_wrap=True)
    return sum(outcome.status is Status.FAILED for outcome in aside)


def _settle(found: FolderAudit, names: list[str], note: str, *, everything: bool) -> AuditReport:
    """Settle findings, say how many settled ones no longer exist, and return the report after that."""
    if names:
        found.settle(names, note)
    if everything:
        found.settle_all(note)
    if found.outdated:
        message = f"{amount(found.outdated, 'findings')} settled in {NAME} no longer exist; --baseline forgets them."
        err.print(Text(message), soft_wrap=True)
    return found.report


def _home_of(path: Path) -> Path:
    """The folder, or the folder of the file, that is audited."""
    return path.resolve() if path.is_dir() else path.resolve().parent
