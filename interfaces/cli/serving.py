"""``disco-rag serve``, ``disco-rag mcp`` and ``disco-rag key``."""

import signal
import sys
import webbrowser
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from discorag.config import Settings, read_settings
from discorag.schema.errors import ConfigError
from interfaces.cli.present import err


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (default: as configured).")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="Port (default: as configured).")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name under which MCP clients reach the server; repeatable.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; more than one needs PostgreSQL.")] = 1,
) -> None:
    """``disco-rag serve``."""
    serve_page(read_settings(), host=host, port=port, hosts=tuple(allow_host or ()), workers=workers)


def serve_page(
    settings: Settings,
    *,
    host: str | None = None,
    port: int | None = None,
    hosts: tuple[str, ...] = (),
    workers: int = 1,
    opens: bool = False,
) -> None:
    """Serve until SIGTERM or Ctrl-C; with ``opens`` the browser shows the page.

    Raises:
        ConfigError: Several workers are to serve one folder.
    """
    from interfaces.http.app import create_app
    from interfaces.http.server import Server, Workers, prepare_process

    if workers > 1 and settings.store.database_url is None:
        message = f"{workers} workers cannot serve one folder: SQLite and Qdrant Edge belong to one process."
        raise ConfigError(message, hint="Set DISCO_RAG_DATABASE_URL and DISCO_RAG_STORE__URL, or serve with one.")

    api = settings.api
    address = {"host": host or api.host, "port": port or api.port, "hosts": (*api.hosts, *hosts)}
    settings = settings.model_copy(update={"api": api.model_copy(update=address)})
    prepare_process(settings)
    url = f"http://{settings.api.url_host}:{settings.api.port}/"
    typer.echo(f"disco-rag: {url} (Ctrl-C ends it)")
    app = create_app(settings)  # impossible settings end here, not in every worker
    if workers > 1:
        Workers(settings, workers).run()
        return
    signal.signal(signal.SIGTERM, _stop)  # uvicorn raises it once more when all is closed
    Server(app, settings.api, on_start=partial(webbrowser.open, url) if opens else None).run()


def mcp(
    folder: Annotated[
        list[Path] | None, typer.Option(help="Folder that ingest may read; repeatable (default: the current folder).")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Do not offer ingest.")] = False,
    corpus: Annotated[str | None, typer.Option(help="Corpus (default: as configured).")] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant (default: as configured).")] = None,
) -> None:
    """``disco-rag mcp``."""
    from interfaces.mcp.stdio import run

    own = {name: value for name, value in (("corpus", corpus), ("tenant", tenant)) if value is not None}
    run(read_settings().model_copy(update=own), folder or [Path()], writable=not read_only)


def _stop(*_: object) -> None:
    sys.exit()


def key(
    name: Annotated[str, typer.Argument(help="Name of the key, for logs.")],
    tenant: Annotated[str, typer.Option(help="Tenant whose documents it gives access to.")],
    role: Annotated[list[str] | None, typer.Option(help="read, write, operate; repeatable.")] = None,
    expires: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="First day it is refused.")] = None,
) -> None:
    """``disco-rag key``."""
    from interfaces.http.access import Role, new_key

    known = {str(r): r for r in Role}
    if unknown := [r for r in role or [] if r not in known]:
        raise ConfigError(f"--role {unknown[0]} is unknown.", hint=f"Known roles: {', '.join(known)}.")
    secret, entry = new_key(name, tenant, [known[r] for r in role or ["read"]], expires.date() if expires else None)
    err.print(secret)
    typer.echo(entry)
