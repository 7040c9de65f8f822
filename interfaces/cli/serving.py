"""``disco-rag serve``, ``demo``, ``mcp`` and ``key``."""

import signal
import sys
import tomllib
import webbrowser
from functools import partial
from typing import Annotated

import typer
from rich.rule import Rule
from rich.text import Text

from discorag.config import Settings, read_settings
from discorag.schema.errors import ConfigError
from interfaces.cli.present import Bar, err, ingest_summary, out, plan_section
from interfaces.facade import EXAMPLES, DiscoRAG
from interfaces.views.terminal import answer_text


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (default: as configured).")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Port (default: as configured).")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; more than one needs PostgreSQL.")] = 1,
    access_log: Annotated[
        bool | None,
        typer.Option(
            "--access-log/--no-access-log", help="Log every request (default: as configured, else if there are keys)."
        ),
    ] = None,
) -> None:
    """``disco-rag serve``."""
    settings = read_settings()
    if access_log is not None:
        settings = settings.model_copy(update={"api": settings.api.model_copy(update={"access_log": access_log})})
    serve_page(settings, host=host, port=port, workers=workers)


def serve_page(
    settings: Settings,
    *,
    host: str | None = None,
    port: int | None = None,
    workers: int = 1,
    opens: bool = False,
) -> None:
    """Serve until SIGTERM or Ctrl-C; with ``opens`` the browser shows the page."""
    from interfaces.http.app import create_app
    from interfaces.http.server import Server, Workers, prepare_process

    if workers > 1 and settings.store.database_url is None:
        message = f"{workers} workers cannot serve one folder: SQLite and Qdrant Edge belong to one process."
        raise ConfigError(message, hint="Set DISCO_RAG_DATABASE_URL and DISCO_RAG_STORE__URL, or serve with one.")

    address = {"host": host or settings.api.host, "port": port or settings.api.port}
    settings = settings.model_copy(update={"api": settings.api.model_copy(update=address)})
    prepare_process(settings)
    url = f"http://{settings.api.url_host}:{settings.api.port}/"
    typer.echo(f"disco-rag: {url} (Ctrl-C ends it)")
    app = create_app(settings)  # impossible settings end here, not in every worker
    if workers > 1:
        Workers(settings, workers).run()
        return
    signal.signal(signal.SIGTERM, _stop)  # uvicorn raises it once more when all is closed
    Server(app, settings.api, on_start=partial(webbrowser.open, url) if opens else None).run()


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


def mcp(corpus: Annotated[str | None, typer.Option(help="Corpus (default: as configured).")] = None) -> None:
    """``disco-rag mcp``."""
    from interfaces.mcp.server import run

    settings = read_settings()
    run(settings.model_copy(update={"corpus": corpus or settings.corpus}))


def _stop(*_: object) -> None:
    sys.exit()


def key(
    name: Annotated[str, typer.Argument(help="Name of the key, for logs.")],
    tenant: Annotated[str, typer.Option(help="Tenant whose documents it gives access to.")],
    role: Annotated[list[str] | None, typer.Option(help="read, write, operate (metrics); repeatable.")] = None,
) -> None:
    """``disco-rag key``."""
    from interfaces.http.access import Role, new_key

    known = {str(r): r for r in Role}
    if unknown := [r for r in role or [] if r not in known]:
        raise ConfigError(f"--role {unknown[0]} is unknown.", hint=f"Known roles: {', '.join(known)}.")
    secret, entry = new_key(name, tenant, [known[r] for r in role or ["read"]])
    err.print(secret)
    typer.echo(entry)
