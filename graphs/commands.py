"""``disco-rag serve`` and ``disco-rag key``."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from discorag.settings import ApiSettings, read_settings
from discorag.types.errors import ConfigError
from discorag.types.extras import extra

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

err = Console(stderr=True)
END_S = 5
"""Seconds in which requests that are ended tell their clients so."""


SWITCH_S = 0.0005
"""How long a thread may keep Python's lock while others wait: requests are short, and an ingest is not."""


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (default: as configured).")] = None,
    port: Annotated[int | None, typer.Option(help="Port (default: as configured).")] = None,
) -> None:
    """Serve the HTTP API until SIGTERM or Ctrl-C; requests under way are finished, or ended after a while."""
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = read_settings()
    settings = settings.model_copy(update={"api": settings.api.model_copy(update=given)})
    with extra("api"):
        from graphs.api import create_app
        from graphs.serving.logs import log_as_json
        from graphs.serving.telemetry import trace
    app = create_app(settings)
    log_as_json(texts=settings.api.log_text, audit=settings.api.audit)
    _spool(settings.api)
    trace(texts=settings.api.log_text)
    typer.echo(f"disco-rag: http://{settings.api.host}:{settings.api.port}/docs")
    sys.setswitchinterval(SWITCH_S)
    signal.signal(signal.SIGTERM, _stop)  # uvicorn raises it once more when all is closed
    server(app, settings.api).run()


def _spool(api: ApiSettings) -> None:
    """Temporary files of this process go to the disk of the uploads, into a folder that is swept at each start."""
    from graphs.serving.uploads import Uploads

    tempfile.tempdir = str(Uploads(api.uploads).spool.resolve())
    Path(tempfile.tempdir).mkdir(parents=True, exist_ok=True)


def server(app: FastAPI, api: ApiSettings) -> uvicorn.Server:
    """A server that ends what is under way with an error before it leaves; uvicorn would cut it off."""
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket] | None = None) -> None:
            asyncio.get_running_loop().call_later(api.drain_s, app.state.service.stop)
            await super().shutdown(sockets)

    return Server(uvicorn.Config(app, **_options(api)))


def _options(api: ApiSettings) -> dict[str, Any]:
    listen = {"host": api.host, "port": api.port, "log_config": None, "access_log": False, "server_header": False}
    return listen | {"timeout_graceful_shutdown": api.drain_s + END_S, "h11_max_incomplete_event_size": 16_384}


def _stop(*_: object) -> None:
    sys.exit()


def key(
    name: Annotated[str, typer.Argument(help="The key's own name, for logs.")],
    tenant: Annotated[str, typer.Option(help="Whose documents it opens.")],
    role: Annotated[list[str] | None, typer.Option(help="read, write, operate; repeatable.")] = None,
    expires: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Refused from this day on.")] = None,
) -> None:
    """Make an API key: it is shown once, on standard error; its entry for the file of keys goes to standard output."""
    with extra("api"):
        from graphs.serving.keys import Role, new_key
    known = {str(r): r for r in Role}
    wrong = [r for r in role or [] if r not in known]
    if wrong:
        raise ConfigError(f"--role {wrong[0]} is unknown.", hint=f"Roles are {', '.join(known)}.")
    made, entry = new_key(name, tenant, [known[r] for r in role or ["read"]], expires.date() if expires else None)
    err.print(made)
    typer.echo(entry)
