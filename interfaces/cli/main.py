"""Ingest, ask, audit, tune, and what shows or deletes documents; and all commands put together."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError
from rich.text import Text
from typer.core import TyperCommand
from typer.models import OptionInfo

from discorag.config import LlmSettings, ModelRoles, Settings, StoreSettings, config_file, read_settings
from discorag.discourse.formats import MEDIA_TYPES, check_format, write_trees
from discorag.discourse.parse.parser import PARSERS, PROMPTED
from discorag.ingest.segment.chunks import whole_chunk
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.survey import Status
from discorag.options import DEFAULT_RETRIEVER, AnswerOptions, IngestOptions, Options, explain_refusal
from discorag.schema.document import Chunk, Scope
from discorag.schema.errors import DiscoRagError, InputError
from discorag.schema.values import amount
from discorag.store.records import Manifest
from discorag.store.retrieval import nothing_in
from discorag.text.escaping import one_line
from interfaces.audit import identify_documents
from interfaces.cli import on_ray
from interfaces.cli.audit import audit
from interfaces.cli.batch import Reply, answer_file
from interfaces.cli.cli_help import COMMANDS, new_app
from interfaces.cli.filters import parse_filters
from interfaces.cli.maintenance import backup, check, models, reindex, restore
from interfaces.cli.present import (
    AsJson,
    Bar,
    corpora_table,
    err,
    follow,
    ingest_summary,
    ledger_table,
    options_table,
    out,
    plan_section,
    print_json,
    statements_section,
    status_table,
    tuning_table,
    tuning_verdict,
)
from interfaces.cli.serving import demo, key, mcp, serve
from interfaces.facade import DiscoRAG
from interfaces.questions import Question, read_questions
from interfaces.results import AskResult
from interfaces.tune import Example, candidates, find_settings, write_settings
from interfaces.views.terminal import answer_text
from nodes.backends import Backends

app = new_app()
show = typer.Typer(no_args_is_help=True)
for name, group in (("show", show), ("models", models)):
    app.add_typer(group, name=name, help=COMMANDS[name])
PATIENCE_S = 2.0
"""Seconds that an interrupted ingest has to finish its current documents."""
_LISTED = 10  # documents that an error names
MODEL_FAILED = 3
"""Exit code of ``ask`` if the language model failed and a question was answered without it."""


def option(kind: type[Options], name: str) -> OptionInfo:
    """The flag of an option, with its help."""
    return typer.Option(help=kind.model_fields[name].description)


Parser = Annotated[str, option(IngestOptions, "parser")]
Corpus = Annotated[str | None, typer.Option(help="Corpus (default: as configured).")]
ShowLedger = Annotated[bool, typer.Option("--ledger", help="Print the time and cost of each stage.")]
_WHICH = "Part of a document's title or file name, end of its path, or start of its id."
Engine = Annotated[Literal["plain", "ray"], typer.Option(help="Work in this process, or by actors on a Ray cluster.")]
Llm = Annotated[str | None, typer.Option(help="Language model: ollama:NAME, openai:NAME or http://HOST:PORT/v1#NAME.")]
Assignments = Annotated[list[str] | None, typer.Option("--set", help="An option, e.g. use_graph=false; repeatable.")]


def ingest(
    path: Annotated[str, typer.Argument(help="A file or a folder.")],
    corpus: Corpus = None,
    parser: Parser = "auto",
    retriever: Annotated[str, option(IngestOptions, "retriever")] = DEFAULT_RETRIEVER,
    refresh: Annotated[bool, option(IngestOptions, "refresh")] = False,
    engine: Engine = "plain",
    show_ledger: ShowLedger = False,
    as_json: AsJson = False,
) -> None:
    """``disco-rag ingest``."""
    with _pipeline() as rag, Bar("Ingest") as progress:
        try:
            read = partial(on_ray.ingest, rag) if engine == "ray" else rag.ingest
            result = read(
                path, progress=progress.on_event, parser=parser, retriever=retriever, corpus=corpus, refresh=refresh
            )
        except KeyboardInterrupt:
            _leave_soon(f"Interrupted: {progress.done} documents are stored; run the same command to resume.")
            raise
    if as_json:
        print_json(result)
    else:
        out.print(ingest_summary(result))
        if show_ledger:
            out.print(ledger_table(result.ledger, seconds=result.seconds))
    if any(o.status is Status.FAILED for o in result.outcomes):
        raise typer.Exit(1)


def ask(
    question: Annotated[str | None, typer.Argument(help="The question (or use --batch).")] = None,
    corpus: Corpus = None,
    retriever: Annotated[str | None, option(AnswerOptions, "retriever")] = None,
    assignments: Assignments = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", help="Use only documents whose metadata say so: kind=trial, 'year>=2020'; repeatable."
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Answer by a baseline of the Disco-RAG paper, e.g. markers.")
    ] = None,
    llm: Llm = None,
    strict: Annotated[bool, option(AnswerOptions, "strict")] = False,
    explain: Annotated[bool, typer.Option(help="Print all options and where they come from; ask nothing.")] = False,
    show_graph: Annotated[
        bool, typer.Option("--graph", help="Print what the passages say on the question, and how these points relate.")
    ] = False,
    show_plan: Annotated[bool, typer.Option("--plan", help="Print the plan of the answer.")] = False,
    show_ledger: ShowLedger = False,
    as_json: AsJson = False,
    batch: Annotated[Path | None, typer.Option(help='JSONL file of {"question": ...}; replies go to --out.')] = None,
    replies: Annotated[Path, typer.Option("--out", help="Where --batch writes its replies.")] = Path("replies.jsonl"),
    engine: Engine = "plain",
) -> None:
    """``disco-rag ask``."""
    chosen = {"retriever": retriever} if retriever else {}
    options = chosen | ({"strict": True} if strict else {}) | _options(assignments) | {"baseline": baseline}
    if explain:
        ignored = {"--graph": show_graph, "--plan": show_plan, "--ledger": show_ledger}
        _refuse_with_explain({**ignored, "--batch": batch, "--filter": filters})
        return _explain(options, llm, as_json=as_json)
    if batch or question is None:
        if filters:
            raise InputError("--filter is for one question.", hint='In a file: {"question": "...", "filters": {...}}.')
        return _ask_batch(question, batch, replies, options, corpus, llm, engine)
    options["filters"] = parse_filters(filters or [])
    with _pipeline(llm) as rag:
        options |= _scope(rag, corpus).model_dump()
        result = asyncio.run(follow(rag.astream(question, **options)))
    if as_json:
        print_json(result)
    else:
        _print_answer(result, graph=show_graph, plan=show_plan, ledger=show_ledger)
    if result.model_failed:
        raise typer.Exit(MODEL_FAILED)
    return None


def tune(
    questions: Annotated[Path, typer.Argument(help='JSONL of {"question": ..., "passages": [...], "answers": [...]}.')],
    corpus: Corpus = None,
    write: Annotated[bool, typer.Option(help="Write better settings into disco-rag.toml.")] = True,
) -> None:
    """``disco-rag tune``."""
    examples = read_questions(questions, Example)
    with _pipeline() as rag:
        where = _scope(rag, corpus).model_dump()
        options = candidates(examples, has_model=rag.backends.model is not None)
        with Bar("Ask", len(examples) * len(options)) as bar:
            find = partial(find_settings, rag, examples, options, on_answer=bar.count, **where)
            found = rag.run(find)
    out.print(tuning_table(found), tuning_verdict(found), sep="\n")
    if write and found.is_better:
        write_settings(config_file(), found.candidates[found.chosen].options)
        out.print(Text(f"Written into {config_file()}."))


@show.command("tree")
def show_tree(
    document: Annotated[str, typer.Argument(help=_WHICH)],
    chunk: Annotated[int | None, typer.Option(help="Only this chunk (from 0).")] = None,
    corpus: Corpus = None,
    format_: Annotated[str, typer.Option("--format", help=f"One of {', '.join(MEDIA_TYPES)}.")] = "text",
) -> None:
    """The RST tree of each chunk of a document, or of one chunk in a format that other tools read."""
    with _pipeline() as rag:
        scope = _scope(rag, corpus)
        manifest = _find_document(rag, scope, document)
        chunks = [c for c in rag.backends.store.chunks_of(scope, manifest.doc_id) if chunk in (None, c.order)]
    if not chunks:
        raise InputError(f"{manifest.title} has no chunk {chunk}.", hint=f"It has {manifest.chunks}, from 0.")
    typer.echo(write_trees(chunks, format_), nl=False)


def status(
    corpus: Annotated[str | None, typer.Option(help="Only this corpus (default: all).")] = None,
    as_json: AsJson = False,
) -> None:
    """``disco-rag status``."""
    with _pipeline() as rag:
        store, model = rag.backends.store, rag.backends.model
        names = [corpus] if corpus else [found.name for found in rag.corpora()]
        scopes = [rag.scope(corpus=name) for name in names]
        documents = [(scope.corpus, *found) for scope in scopes for found in identify_documents(store, scope)]
        if corpus and not documents:
            raise nothing_in(store, scopes[0])
        index = store.check_index()
    if index:
        err.print(Text(one_line(f"Searches are {index}.", 400)), soft_wrap=True)
    if as_json:
        rows = [
            {"corpus": name, **manifest.model_dump(mode="json"), "identity": identity.model_dump(exclude_defaults=True)}
            for name, manifest, identity in documents
        ]
        return print_json(rows)
    return out.print(status_table(documents, encoder=rag.backends.encoder.version, model=model.name if model else None))


def corpora(as_json: AsJson = False) -> None:
    """``disco-rag corpora``."""
    with _pipeline() as rag:
        found = rag.corpora()
    print_json([c.model_dump(mode="json") for c in found]) if as_json else out.print(corpora_table(found))


def delete(document: Annotated[str, typer.Argument(help=_WHICH)], corpus: Corpus = None) -> None:
    """``disco-rag delete``."""
    with _pipeline() as rag:
        scope = _scope(rag, corpus)
        manifest = _find_document(rag, scope, document)
        rag.delete(manifest.doc_id, **scope.model_dump())
    out.print(Text(f"Deleted {one_line(manifest.title)} ({amount(manifest.chunks, 'chunks')})."))


def parse(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A document.")],
    format_: Annotated[str, typer.Option("--format", help=f"One of {', '.join(MEDIA_TYPES)}.")] = "text",
    parser: Annotated[str, typer.Option(help=f"auto: as configured; {PARSERS.described()}.")] = "auto",
) -> None:
    """``disco-rag parse``."""
    check_format(format_)
    typer.echo(write_trees([_parse_document(path, parser)], format_), nl=False)


class AskCommand(TyperCommand):
    """``ask``, which says how to set an option of a question that has no flag of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See `click.Command.parse_args`. Raises `InputError` for the name of such an option."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            flag = str(getattr(error, "option_name", ""))  # Typer does not export NoSuchOption, which has it
            name = flag.lstrip("-").replace("-", "_")
            if name in AnswerOptions.model_fields and name not in {parameter.name for parameter in self.params}:
                raise InputError(f"ask has no {flag}.", hint=f"Write --set {name}=VALUE.") from error
            raise


_ELSEWHERE = (demo, serve, mcp, key, check, reindex, backup, restore)
for command in (ingest, ask, audit, status, corpora, tune, delete, parse, *_ELSEWHERE):
    app.command(help=COMMANDS[command.__name__], cls=AskCommand if command is ask else None)(command)


def main() -> None:
    """Entry point: expected errors become one line on stderr and exit code 2."""
    try:
        if any(a.encode("utf-8", "replace").decode() != a for a in sys.argv):
            raise InputError("An argument is not valid UTF-8.", hint="Check the terminal's encoding.")
        app()
    except DiscoRagError as error:
        err.print(Text(one_line(f"{error.kind}: {error}", 2000), style="red"))
        sys.exit(2)


def _pipeline(llm: str | None = None) -> DiscoRAG:
    return DiscoRAG(read_settings(), llm=llm)


def _scope(rag: DiscoRAG, corpus: str | None) -> Scope:
    """The named or configured corpus; if none is named and the configured one is empty, the only one with documents."""
    scope = rag.scope(corpus=corpus)
    if corpus is None and not rag.backends.store.has(scope) and len(found := rag.corpora()) == 1:
        scope = rag.scope(corpus=found[0].name)
        err.print(Text(one_line(f"Corpus {scope.corpus}, the only one that holds documents.")))
    return scope


def _leave_soon(message: str) -> None:
    """Print the message, and exit after `PATIENCE_S` even if a thread is still at work: a kill loses nothing."""
    err.print(message)
    timer = Timer(PATIENCE_S, os._exit, (130,))
    timer.daemon = True
    timer.start()


def _refuse_with_explain(given: Mapping[str, object]) -> None:
    """Raise an error if one of these flags was given, since ``--explain`` asks nothing."""
    if flags := [flag for flag, value in given.items() if value]:
        message = f"--explain asks nothing, so {' and '.join(flags)} would have no effect."
        raise InputError(message, hint="Ask without --explain, or leave the others out.")


def _explain(options: dict[str, Any], llm: str | None, *, as_json: bool) -> None:
    """Print the complete options of a question, and where the value of each comes from."""
    with _pipeline(llm) as rag:
        resolved = rag.explain(**options)
    if as_json:
        print_json({"options": resolved.options.model_dump(mode="json"), "origins": resolved.origins})
    else:
        out.print(options_table(resolved))


def _print_answer(result: AskResult, *, graph: bool, plan: bool, ledger: bool) -> None:
    """Print the answer, and what else was asked for."""
    out.print(answer_text(result.answer))
    if result.answer.abstained:
        err.print("Try other words, or add --set abstain=never to get an answer anyway.")
    if graph:
        out.print("", statements_section(result))
    if plan:
        out.print("", plan_section(result))
    if ledger:
        out.print(ledger_table(result.ledger, seconds=result.seconds))


def _ask_batch(
    question: str | None,
    batch: Path | None,
    replies: Path,
    options: dict[str, Any],
    corpus: str | None,
    llm: str | None,
    engine: str,
) -> None:
    """Answer a file of questions; exit code 1 if one has no answer, else `MODEL_FAILED` as for a single question."""
    if batch is None or question is not None:
        raise InputError("Give a question, or --batch FILE.", hint="disco-rag ask --help")
    questions, without_model = read_questions(batch, Question), 0
    with _pipeline(llm) as rag, Bar("Ask", len(questions)) as progress:
        options |= _scope(rag, corpus).model_dump()

        def on_reply(reply: Reply) -> None:
            nonlocal without_model
            without_model += reply.result is not None and reply.result.model_failed
            progress.on_reply(reply)

        if engine == "ray":
            failed = on_ray.answer_file(rag, questions, replies, on_reply=on_reply, **options)
        else:
            failed = rag.run(lambda: answer_file(rag, questions, replies, on_reply=on_reply, **options))
    out.print(Text(f"{len(questions) - failed} of {len(questions)} answered, in {replies}."))
    if without_model:
        out.print(Text(f"The language model failed on {without_model}: their answers are those without it."))
    if failed:
        raise typer.Exit(1)
    if without_model:
        raise typer.Exit(MODEL_FAILED)


def _options(assignments: list[str] | None) -> dict[str, Any]:
    """``name=value`` assignments as options; values are read as JSON where they are JSON."""
    found: dict[str, Any] = {}
    for item in assignments or []:
        name, sign, value = item.partition("=")
        if not sign:
            raise InputError(f"--set {item} is not of the form name=value.", hint="For example --set top_k=5.")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    try:
        AnswerOptions.model_validate(found)
    except ValidationError as error:
        raise explain_refusal(error) from error
    return found


def _find_document(rag: DiscoRAG, scope: Scope, name: str) -> Manifest:
    """The only document with this id or end of path, else the only one whose id, title or file name contains it."""
    documents = rag.backends.store.manifests(scope)
    if not documents:
        raise nothing_in(rag.backends.store, scope)
    part, end = name.strip().casefold(), "/" + name.lstrip("/")
    exact = [m for m in documents if name and (m.doc_id == name or m.uri.endswith(end))]
    matches = exact or [m for m in documents if part and (m.doc_id.startswith(part) or _is_named(m, part))]
    if len(matches) == 1:
        return matches[0]
    shown = [f"{m.doc_id[:8]} {one_line(m.title)} ({Path(m.uri).name})" for m in matches[:_LISTED]]
    shown += [f"{len(matches) - _LISTED} more"] if len(matches) > _LISTED else []
    message = f"{len(matches)} documents match {name!r}{': ' if matches else ''}{'; '.join(shown)}."
    hint = "`disco-rag status` lists all; give the start of an id, or more of a name."
    raise InputError(message, hint=hint)


def _is_named(document: Manifest, part: str) -> bool:
    return part in document.title.casefold() or part in Path(document.uri).name.casefold()


def _parse_document(path: Path, parser: str) -> Chunk:
    """The document as one chunk with its tree."""
    settings = read_settings()
    name = settings.parser.kind if parser == "auto" else parser
    PARSERS.check(name)
    with err.status("Parsing ..."), DiscoRAG(_without_store(settings, name)) as rag:
        return rag.run(partial(_with_tree, rag.backends, path, name))


def _without_store(settings: Settings, parser: str) -> Settings:
    """The settings, but nothing is stored, and a language model is used only if it parses."""
    without = {} if parser == PROMPTED else {"model": None, "models": ModelRoles(), "llm": LlmSettings()}
    return settings.model_copy(update={"store": StoreSettings(kind="memory"), **without})


async def _with_tree(backends: Backends, path: Path, parser: str) -> Chunk:
    document = await backends.reader.read(path)
    hierarchy = await asyncio.to_thread(build_hierarchy, document, backends.settings.reading.max_sentences)
    chunk = whole_chunk(document, hierarchy)
    parsed = await backends.parser(parser).parse(chunk)
    return chunk.model_copy(update={"tree": parsed.value})
