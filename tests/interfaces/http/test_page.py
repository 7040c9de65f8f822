"""The page in the browser: served beside the API, and allowed nothing but itself."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.testclient import TestClient

from discorag.config import Settings
from interfaces.http.app import create_app, show_page
from tests.web.api_types import FILE, typescript


def _client(files: Path) -> TestClient:
    app = FastAPI()

    @app.get("/healthz")
    def healthz() -> str:  # pyright: ignore[reportUnusedFunction]
        return "ok"

    show_page(app, files)
    return TestClient(app)


def _built(folder: Path) -> Path:
    (folder / "assets").mkdir()
    (folder / "index.html").write_text("<!doctype html><title>page</title>", "utf-8")
    (folder / "assets" / "a-1.js").write_text("export {}", "utf-8")
    return folder


def test_the_page_may_load_and_reach_nothing_but_its_own_server(tmp_path: Path) -> None:
    found = _client(_built(tmp_path)).get("/")
    policy = found.headers["content-security-policy"]
    assert found.status_code == 200
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_named_files_are_kept_and_the_page_is_asked_for_again(tmp_path: Path) -> None:
    client = _client(_built(tmp_path))
    assert client.get("/").headers["cache-control"] == "no-cache"
    assert "immutable" in client.get("/assets/a-1.js").headers["cache-control"]


def test_the_api_comes_before_the_page(tmp_path: Path) -> None:
    client = _client(_built(tmp_path))
    assert client.get("/healthz").json() == "ok"
    assert client.get("/nothing").status_code == 404
    assert client.get("/../pyproject.toml").status_code == 404


def test_without_a_build_the_api_says_how_to_get_the_page(tmp_path: Path) -> None:
    assert "make web" in _client(tmp_path).get("/").text


def test_the_types_of_the_page_are_those_of_the_api() -> None:
    assert FILE.read_text("utf-8") == typescript(create_app(Settings()).openapi()), "run `make api-types`"
