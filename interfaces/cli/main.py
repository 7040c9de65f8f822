"""Commands: ingest, ask, show, estimate, status, corpora, delete; check to restore; models; serve, mcp, key."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console, Group
from rich.text import Text
from typer.models import OptionInfo

from discorag.config import read_settings
from discorag.discourse.formats.table import FORMATS, READERS, is_tree, read_tree, written
from discorag.ingest.survey import Status
from discorag.schema.document import Chunk, Scope
from discorag.schema.errors import DiscoRagError, InputError
from discorag.store.records import Manifest
from discorag.store.retrieval import nothing_in
from discorag.text.citations import steps
from discorag.text.escaping import one_line
from interfaces.cli.engines import Engine, EngineOption, check_engine
from interfaces.cli.maintenance import backup, check, reindex, restore
from interfaces.cli.models import models
from interfaces.cli.parse import parse
from interfaces.cli.present import (
    IngestProgress,
    QuestionDisplay,
    QuestionProgress,
    corpora_table,
    estimate_table,
    ingest_summary,
    ledger_table,
    status_table,
)
from interfaces.cli.serving import key, mcp, serve
from interfaces.facade import AskResult, DiscoRAG
from interfaces.questions import answer_file, read_questions
from interfaces.views.terminal import answer_text, graph_mermaid, graph_text, plan_mermaid, plan_text
from nodes.context import AnswerContext
from nodes.options import DEFAULT_RETRIEVER, AnswerOptions, IngestOptions, Options

app = typer.Typer(no_args_is_help=True, help=__doc__, pretty_exceptions_enable=False, add_completion=False)
show = typer.Typer(no_args_is_help=True, help="Show a document's trees, or the graph or plan for a question.")
app.add_typer(show, name="show")
app.add_typer(models, name="models")
for command in (parse, serve, mcp, key, check, reindex, backup, restore):
    app.command()(command)
OPTIONS = AnswerContext.model_fields.keys() - {"backends"}
out, err = Console(), Console(stderr=True)
PATIENCE_S = 2.0
"""Seconds in which an ingest that is interrupted may end what it is at."""
_LISTED = 10  # documents that an error names


def _option(kind: type[Options], name: str) -> OptionInfo:
    """The flag of an option, with its help."""
    return typer.Option(help=kind.model_fields[name].description)


Parser = Annotated[str, _option(IngestOptions, "parser")]
Corpus = Annotated[str | None, typer.Option(help="Corpus (default: as configured).")]
Tenant = Annotated[str | None, typer.Option(help="Tenant (default: as configured).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Mermaid = Annotated[bool, typer.Option("--mermaid", help="Print Mermaid.")]
_WHICH = "Part of a document's title or file name, end of its path, or start of its id."
Assignments = Annotated[list[str] | None, typer.Option("--set", help="An option, e.g. use_graph=false; repeatable.")]


@app.command()
def ingest(
    path: Annotated[str, typer.Argument(help="A file, a folder, or s3://bucket/prefix.")],
    corpus: Corpus = None,
    tenant: Tenant = None,
    parser: Parser = "auto",
    retriever: Annotated[str, _option(IngestOptions, "retriever")] = DEFAULT_RETRIEVER,
    refresh: Annotated[bool, _option(IngestOptions, "refresh")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only estimate.")] = False,
    engine: EngineOption = Engine.OWN,
    as_json: AsJson = False,
) -> None:
    """Read documents into the store; changed ones are replaced, vanished ones deleted."""
    check_engine(engine)
    if dry_run:
        estimate(path, corpus, tenant, parser, as_json)
        raise typer.Exit
    with _pipeline() as rag, IngestProgress(err) as progress:
        where: dict[str, Any] = {"corpus": corpus, "tenant": tenant, "refresh": refresh}
        try:
            result = rag.ingest(path, progress=progress.on_event, parser=parser, retriever=retriever, **where)
        except KeyboardInterrupt:
            _leave_soon(f"Interrupted: {progress.done} documents are done and kept; the same command goes on.")
            raise
    if as_json:
        _print_json(result)
    else:
        out.print(ingest_summary(result), ledger_table(result.ledger, seconds=result.seconds))
    if any(o.status is Status.FAILED for o in result.outcomes):
        raise typer.Exit(1)


@app.command()
def estimate(
    path: Annotated[str, typer.Argument(help="A file, a folder, or s3://bucket/prefix.")],
    corpus: Corpus = None,
    tenant: Tenant = None,
    parser: Parser = "auto",
    as_json: AsJson = False,
) -> None:
    """Say what an ingest would do and cost, without storing anything."""
    with _pipeline() as rag:
        result = rag.estimate(path, corpus=corpus, tenant=tenant, parser=parser)
    _print_json(result) if as_json else out.print(estimate_table(result))


@app.command()
def ask(
    question: Annotated[str | None, typer.Argument(help="The question; or --batch.")] = None,
    corpus: Corpus = None,
    tenant: Tenant = None,
    retriever: Annotated[str | None, _option(AnswerOptions, "retriever")] = None,
    top_k: Annotated[int | None, _option(AnswerOptions, "top_k")] = None,
    assignments: Assignments = None,
    baseline: Annotated[str | None, typer.Option(help="A baseline of the paper instead, e.g. markers.")] = None,
    as_json: AsJson = False,
    batch: Annotated[Path | None, typer.Option(help='JSONL file of {"question": ...}, answered into --out.')] = None,
    replies: Annotated[Path, typer.Option("--out", help="Of --batch.")] = Path("replies.jsonl"),
    engine: EngineOption = Engine.OWN,
) -> None:
    """Answer a question; every sentence with its sources, and what it cost. Or a file of them."""
    given: dict[str, Any] = {"corpus": corpus, "tenant": tenant, "retriever": retriever, "top_k": top_k}
    options = {name: value for name, value in given.items() if value is not None} | _options(assignments)
    options["baseline"] = baseline
    check_engine(engine)
    if batch or question is None:
        return _answered(question, batch, replies, options)
    with _pipeline() as rag:
        result = asyncio.run(_streamed(rag, question, options, quiet=as_json))
    if as_json:
        return _print_json(result)
    plan = result.answer.plan
    out.print(answer_text(result.answer))
    if plan:
        out.print(Group(Text("\nPlan", style="bold"), plan_text(plan)))
    return out.print(ledger_table(result.ledger, seconds=result.seconds))


@show.command("tree")
def show_tree(
    document: Annotated[
        str,
        typer.Argument(help=f"{_WHICH} Or a tree's file ({', '.join(READERS)})."),
    ],
    chunk: Annotated[int | None, typer.Option(help="Only this chunk (from 0).")] = None,
    corpus: Corpus = None,
    tenant: Tenant = None,
    format_: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "text",
    mermaid: Annotated[bool, typer.Option("--mermaid", help="As --format mermaid.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the chunks as they are stored.")] = False,
) -> None:
    """The RST tree of each chunk of a document, or of one chunk in a format that other tools read."""
    path = Path(document)
    chunks = [read_tree(path)] if is_tree(path) else _stored(document, chunk, corpus, tenant)
    if as_json:
        return _print_json([c.model_dump(mode="json") for c in chunks])
    return typer.echo(written(chunks, "mermaid" if mermaid else format_), nl=False)


@show.command("graph")
def show_graph(
    question: str,
    corpus: Corpus = None,
    tenant: Tenant = None,
    assignments: Assignments = None,
    mermaid: Mermaid = False,
    as_json: AsJson = False,
) -> None:
    """The rhetorical graph over what is retrieved for a question."""
    with _pipeline() as rag:
        result = rag.ask(question, corpus=corpus, tenant=tenant, **_options(assignments))
        scope = rag.scope(tenant=tenant, corpus=corpus)
        chunks = tuple(rag.backends.store.chunks(scope, [h.chunk_id for h in result.hits]))
    if result.graph is None:
        raise InputError("The graph is switched off.", hint="Leave out --set use_graph=false.")
    if as_json:
        return _print_json(result.graph)
    return (
        typer.echo(graph_mermaid(result.graph, chunks, result.answer))
        if mermaid
        else out.print(graph_text(result.graph, chunks, result.answer))
    )


@show.command("plan")
def show_plan(
    question: str,
    corpus: Corpus = None,
    tenant: Tenant = None,
    assignments: Assignments = None,
    mermaid: Mermaid = False,
    as_json: AsJson = False,
) -> None:
    """The discourse plan for a question."""
    with _pipeline() as rag:
        answer = rag.ask(question, corpus=corpus, tenant=tenant, **_options(assignments)).answer
    plan = answer.plan
    if plan is None:
        raise InputError("The plan is switched off.", hint="Leave out --set use_plan=false.")
    if as_json:
        return _print_json({"paragraph": plan.paragraph, "steps": [s.model_dump() for s in steps(plan)]})
    return typer.echo(plan_mermaid(plan, answer)) if mermaid else out.print(plan_text(plan))


@app.command()
def status(corpus: Corpus = None, tenant: Tenant = None, as_json: AsJson = False) -> None:
    """List what is stored."""
    with _pipeline() as rag:
        documents = rag.documents(tenant=tenant, corpus=corpus)
        encoder, model = rag.backends.encoder.version, rag.backends.model
        ability = str(rag.run(rag.backends.ability)) if model and not as_json else ""
    if as_json:
        return _print_json([m.model_dump(mode="json") for m in documents])
    return out.print(status_table(documents, encoder=encoder, model=f"{model.name} ({ability})" if model else None))


@app.command()
def corpora(tenant: Tenant = None, as_json: AsJson = False) -> None:
    """List the corpora that hold documents."""
    with _pipeline() as rag:
        found = rag.corpora(tenant=tenant)
    _print_json([c.model_dump(mode="json") for c in found]) if as_json else out.print(corpora_table(found))


@app.command()
def delete(
    document: Annotated[str, typer.Argument(help=_WHICH)],
    corpus: Corpus = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Delete a document from the store."""
    with _pipeline() as rag:
        manifest = _one(rag, rag.scope(tenant=tenant, corpus=corpus), document)
        rag.delete(manifest.doc_id, tenant=tenant, corpus=corpus)
    _print_json({"deleted": manifest.doc_id}) if as_json else out.print(
        Text(f"Deleted {one_line(manifest.title)} ({manifest.chunks} chunks).")
    )


def main() -> None:
    """Entry point: errors raised on purpose become one line on stderr and exit code 2."""
    try:
        if any(a.encode("utf-8", "replace").decode() != a for a in sys.argv):
            raise InputError("An argument is not valid UTF-8.", hint="Check the terminal's encoding.")
        app()
    except DiscoRagError as error:
        err.print(Text(one_line(f"{error.kind}: {error}", 2000), style="red"))
        sys.exit(2)


@contextmanager
def _pipeline() -> Generator[DiscoRAG]:
    with DiscoRAG(read_settings()) as rag:
        yield rag


async def _streamed(rag: DiscoRAG, question: str, options: dict[str, Any], *, quiet: bool) -> AskResult:
    with QuestionDisplay(err, quiet=quiet) as display:
        async for event in rag.astream(question, **options):
            if isinstance(event, AskResult):
                return event
            display.on_event(event)
    raise InputError("The run ended without an answer.")


def _leave_soon(message: str) -> None:
    """Say so, and end in `PATIENCE_S` even if a thread is still at work: nothing is lost when a process is killed."""
    err.print(message)
    timer = Timer(PATIENCE_S, os._exit, (130,))
    timer.daemon = True
    timer.start()


def _answered(
    question: str | None,
    batch: Path | None,
    replies: Path,
    options: dict[str, Any],
) -> None:
    """The questions of a file; exit code 1 if one met an error."""
    if batch is None or question is not None:
        raise InputError("Ask one question, or --batch FILE.", hint="disco-rag ask --help")
    questions = read_questions(batch)
    with _pipeline() as rag, QuestionProgress(err, len(questions)) as progress:
        failed = rag.run(lambda: answer_file(rag, questions, replies, on_reply=progress.on_reply, **options))
    out.print(Text(f"{len(questions) - failed} of {len(questions)} answered, in {replies}."))
    if failed:
        raise typer.Exit(1)


def _options(given: list[str] | None) -> dict[str, Any]:
    """``name=value`` assignments as options; values are read as JSON where they are JSON."""
    found: dict[str, Any] = {}
    for item in given or []:
        name, sign, value = item.partition("=")
        if not sign or name not in OPTIONS:
            known = ", ".join(sorted(OPTIONS))
            raise InputError(f"--set {item} is not name=value of an option.", hint=f"Options are {known}.")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found


def _stored(document: str, chunk: int | None, corpus: str | None, tenant: str | None) -> list[Chunk]:
    """The chunks of a stored document, or one of them."""
    with _pipeline() as rag:
        scope = rag.scope(tenant=tenant, corpus=corpus)
        manifest = _one(rag, scope, document)
        found = [c for c in rag.backends.store.chunks_of(scope, manifest.doc_id) if chunk in (None, c.order)]
    if not found:
        raise InputError(f"{manifest.title} has no chunk {chunk}.", hint=f"It has {manifest.chunks}, from 0.")
    return found


def _one(rag: DiscoRAG, scope: Scope, wanted: str) -> Manifest:
    """The only document with this id or path's end; if there is none, the only one that is named like this."""
    documents = rag.backends.store.manifests(scope)
    if not documents:
        raise nothing_in(rag.backends.store, scope)
    given, end = wanted.strip().casefold(), "/" + wanted.lstrip("/")
    exact = [m for m in documents if wanted and (m.doc_id == wanted or m.uri.endswith(end))]
    matches = exact or [m for m in documents if given and (m.doc_id.startswith(given) or _is_named(m, given))]
    if len(matches) == 1:
        return matches[0]
    shown = [f"{m.doc_id[:8]} {one_line(m.title)} ({Path(m.uri).name})" for m in matches[:_LISTED]]
    shown += [f"{len(matches) - _LISTED} more"] if len(matches) > _LISTED else []
    said = f"{len(matches)} documents match {wanted!r}{': ' if matches else ''}{'; '.join(shown)}."
    raise InputError(said, hint="disco-rag status lists all; give the start of an id, or more of a name.")


def _is_named(document: Manifest, part: str) -> bool:
    return part in document.title.casefold() or part in Path(document.uri).name.casefold()


def _print_json(value: BaseModel | Any) -> None:
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))
