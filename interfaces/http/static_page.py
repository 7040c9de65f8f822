"""The page in the browser: its files as the web build left them, under a policy that lets nothing else in."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FILES = Path(__file__).parent / "page"
_ABSENT = "The API is served; the page in the browser is not built. Run `make web` (it needs Node), and serve again.\n"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {"Content-Security-Policy": _POLICY}
_KEPT, _ASKED = "public, max-age=31536000, immutable", "no-cache"


class Assets(StaticFiles):
    """Files whose names hold a digest of them: browsers keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """With the policy. Raises ``HTTPException`` (404, 405), which the app answers."""
        response = await super().get_response(path, scope)
        response.headers.update(_HEADERS | {"Cache-Control": _KEPT})
        return response


def show(app: FastAPI, files: Path = FILES) -> None:
    """Serve the page at ``/`` and its files beside the routes; where it is not built, say there how to build it."""
    if not (files / "index.html").is_file():
        app.add_api_route("/", lambda: PlainTextResponse(_ABSENT), include_in_schema=False)
        return
    app.mount("/assets", Assets(directory=files / "assets"), name="assets")
    for file in (f for f in files.iterdir() if f.is_file()):
        path = "/" if file.name == "index.html" else f"/{file.name}"
        app.add_api_route(path, partial(_file, file), include_in_schema=False)


def _file(file: Path) -> FileResponse:
    return FileResponse(file, headers=_HEADERS | {"Cache-Control": _ASKED})
