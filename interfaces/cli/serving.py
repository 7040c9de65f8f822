"""``disco-rag serve``, ``disco-rag mcp`` and ``disco-rag key``."""

from __future__ import annotations

import signal
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from discorag.config import ApiSettings, Settings, read_settings
from discorag.extras import extra
from discorag.schema.errors import ConfigError

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

err = Console(stderr=True)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (default: as configured).")] = None,
    port: Annotated[int | None, typer.Option(help="Port (default: as configured).")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes that answer; for now there is one.")] = None,
) -> None:
    """``disco-rag serve``."""
    if workers not in (None, 1):
        raise ConfigError("Several workers need a database that machines share.", hint="Leave out --workers for now.")
    settings = _listening(read_settings(), host, port)
    with extra("api"):
        from interfaces.http.app import create_app
    _run(create_app(settings), settings, "/")


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Over HTTP: all that serve has, and MCP at /mcp.")] = False,
    host: Annotated[str | None, typer.Option(help="With --http, as for serve.")] = None,
    port: Annotated[int | None, typer.Option(help="With --http, as for serve.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="With --http: a name under which the server is reached; repeatable.")
    ] = None,
    folder: Annotated[
        list[Path] | None,
        typer.Option(help="Without --http: ingest reads below it only; repeatable (default: the current one)."),
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="No ingest.")] = False,
    corpus: Annotated[str | None, typer.Option(help="Corpus (default: as configured).")] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant of callers without a key (default: configured).")] = None,
) -> None:
    """``disco-rag mcp``."""
    if (folder and http) or ((host or port or allow_host) and not http):
        raise ConfigError("--host, --port and --allow-host go with --http, --folder without.", hint="Leave one out.")
    own = {name: value for name, value in (("corpus", corpus), ("tenant", tenant)) if value is not None}
    settings = _listening(read_settings().model_copy(update=own), host, port)
    with extra("mcp"):
        from interfaces.mcp.stdio import run
    if not http:
        return run(settings, folder or [Path()], writable=not read_only)
    with extra("api"):
        from interfaces.mcp.http import PATH, create_mcp_app
    return _run(create_mcp_app(settings, hosts=allow_host or (), writable=not read_only), settings, PATH)


def _listening(settings: Settings, host: str | None, port: int | None) -> Settings:
    address = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update={"api": settings.api.model_copy(update=address)})


def _run(app: FastAPI, settings: Settings, path: str) -> None:
    from interfaces.http.server import prepare_process

    prepare_process(settings)
    typer.echo(f"disco-rag: http://{settings.api.host}:{settings.api.port}{path}")
    signal.signal(signal.SIGTERM, _stop)  # uvicorn raises it once more when all is closed
    server(app, settings.api).run()


def server(app: FastAPI, api: ApiSettings) -> uvicorn.Server:
    """A server of one process."""
    import uvicorn

    from interfaces.http.server import Server, options

    return Server(uvicorn.Config(app, **options(api)))


def _stop(*_: object) -> None:
    sys.exit()


def key(
    name: Annotated[str, typer.Argument(help="The key's own name, for logs.")],
    tenant: Annotated[str, typer.Option(help="Whose documents it opens.")],
    role: Annotated[list[str] | None, typer.Option(help="read, write, operate; repeatable.")] = None,
    expires: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Refused from this day on.")] = None,
) -> None:
    """``disco-rag key``."""
    with extra("api"):
        from interfaces.http.access import Role, new_key
    known = {str(r): r for r in Role}
    if unknown := [r for r in role or [] if r not in known]:
        raise ConfigError(f"--role {unknown[0]} is unknown.", hint=f"Roles are {', '.join(known)}.")
    secret, entry = new_key(name, tenant, [known[r] for r in role or ["read"]], expires.date() if expires else None)
    err.print(secret)
    typer.echo(entry)
