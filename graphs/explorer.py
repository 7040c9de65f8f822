"""The page in the browser: its files as the web build left them, under a policy that lets nothing else in."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FILES = Path(__file__).parent / "serving" / "page"
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
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_KEPT, _ASKED = "public, max-age=31536000, immutable", "no-cache"


class Page(StaticFiles):
    """Files whose names hold a digest of them are kept by browsers; the page itself is asked for each time."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """With the policy. Raises ``HTTPException`` (404, 405), which the app answers."""
        response = await super().get_response(path, scope)
        kept = _KEPT if path.startswith("assets/") else _ASKED
        response.headers.update(_HEADERS | {"Cache-Control": kept})
        return response


def show(app: FastAPI, files: Path = FILES) -> None:
    """Serve the page at ``/``, after all routes; where it is not built, say there how to build it."""
    if (files / "index.html").is_file():
        app.mount("/", Page(directory=files, html=True), name="page")
        return

    @app.get("/", include_in_schema=False)
    def absent() -> Response:  # pyright: ignore[reportUnusedFunction]
        return PlainTextResponse(_ABSENT)
