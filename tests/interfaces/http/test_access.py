"""Keys, roles, rates, and which requests a server without keys turns away."""

import contextlib
import io
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.types import Message
from structlog.testing import capture_logs
from typer.testing import CliRunner

from discorag.config import ApiSettings, Settings
from discorag.schema.errors import ConfigError
from interfaces.cli.main import app as cli
from interfaces.http.access import Access, Role, new_key
from interfaces.http.problems import RefusedError
from tests.interfaces.http.conftest import Serve, Served
from tests.interfaces.http.parts import QUERY, Apps, bearer, write_keys

EVERY = tuple(Role)
ENTRY = new_key("a", "alpha", [Role.READ])[1]


def access(keys: Path | None, **api: Any) -> Access:
    return Access(Settings(api=ApiSettings.model_validate({"keys": keys, **api})))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"[[key", "cannot be read"),
        (b'name = "caf\xe9"', "cannot be read"),
        (b"", "no key"),
        (b"key = []", "no key"),
        (ENTRY.replace('"read"', '"rule"').encode(), "key.0.roles.*'read', 'write' or 'operate'"),
        (ENTRY.replace('name = "a"', 'name = ""').encode(), "key.0.name"),
        (ENTRY.replace('tenant = "alpha"', "").encode(), "key.0.tenant"),
        (ENTRY.replace('sha256 = "', 'sha256 = "x').encode(), "key.0.sha256"),
        (ENTRY.encode() + b'colour = "red"', "key.0.colour"),
        ((ENTRY + new_key("a", "alpha", EVERY)[1]).encode(), "same key name"),
        ((ENTRY + ENTRY.replace('name = "a"', 'name = "b"')).encode(), "same key"),
    ],
)
def test_a_file_of_keys_that_is_not_right_is_one_error_that_names_it(
    keys: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        keys.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as error:
        access(keys)
    assert str(keys) in error.value.message
    assert error.value.hint


def test_what_disco_rag_key_prints_is_an_entry_whose_key_opens_the_server(served: Served, keys: Path) -> None:
    shown = io.StringIO()
    with contextlib.redirect_stderr(shown):
        made = CliRunner().invoke(cli, ["key", 'the "first"', "--tenant", "alpha", "--role", "read", "--role", "write"])
    keys.write_text(made.stdout, encoding="utf-8")
    key = next(word for word in (made.stderr + shown.getvalue()).split() if word.startswith("dr-"))
    assert key not in made.stdout
    client = served(keys=keys)
    assert client.get("/documents", headers=bearer(key)).json()["total"] == 3
    assert access(keys).who(key).name == 'the "first"'


@pytest.mark.parametrize(
    "headers",
    [{}, bearer("dr-wrong"), bearer(""), {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"}],
    ids=["none", "wrong", "empty", "basic", "scheme only"],
)
def test_without_a_valid_key_nothing_but_health_is_answered(
    served: Served, keys: Path, headers: dict[str, str]
) -> None:
    write_keys(keys, ("a", "alpha", EVERY))
    client = served(keys=keys)
    for method, path in (*KEYED, ("POST", "/mcp")):
        reply = client.request(method, path, headers=headers)
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer"), path
        assert reply.json()["error"]["type"] == "NoKeyError"
    assert client.get("/healthz", headers=headers).status_code == 200
    assert client.get("/readyz", headers=headers).status_code == 200


NOBODY = "0" * 32
DOCUMENT = "00000000-0000-0000-0000-000000000000"
KEYED = {
    ("GET", "/corpora"): Role.READ,
    ("GET", "/documents"): Role.READ,
    ("GET", "/session"): Role.READ,
    ("GET", "/metrics"): Role.OPERATE,
    ("GET", "/chunks"): Role.READ,
    ("GET", f"/documents/{DOCUMENT}/text"): Role.READ,
    ("GET", f"/documents/{DOCUMENT}/file"): Role.READ,
    ("GET", f"/trees/{DOCUMENT}"): Role.READ,
    ("GET", f"/ingest/{NOBODY}"): Role.READ,
    ("GET", "/v1/models"): Role.READ,
    ("POST", "/ask"): Role.READ,
    ("POST", "/v1/chat/completions"): Role.READ,
    ("POST", "/ingest"): Role.WRITE,
    ("DELETE", f"/ingest/{NOBODY}"): Role.WRITE,
    ("DELETE", f"/documents/{DOCUMENT}"): Role.WRITE,
    ("POST", "/audit"): Role.READ,
    ("GET", "/audit"): Role.READ,
    ("PUT", f"/audit/{NOBODY}"): Role.WRITE,
    ("POST", "/threads"): Role.READ,
    ("GET", "/threads"): Role.READ,
    ("DELETE", f"/threads/{DOCUMENT}"): Role.READ,
    ("GET", f"/threads/{DOCUMENT}/turns"): Role.READ,
}


@pytest.mark.parametrize("role", EVERY)
def test_a_key_may_do_what_its_role_says_and_nothing_else(served: Served, keys: Path, role: Role) -> None:
    (headers,) = write_keys(keys, ("a", "alpha", [role]))
    client = served(keys=keys)
    for (method, path), needed in KEYED.items():
        reply = client.request(method, path, headers=headers)
        assert (reply.status_code == 403) == (role != needed), path
        if role != needed:
            assert reply.json()["error"]["type"] == "RoleError"


def test_every_path_of_the_schema_is_in_the_tables_of_these_tests(apps: Apps, uploads: Path) -> None:
    found = {(m.upper(), p) for p, methods in apps(uploads).openapi()["paths"].items() for m in methods}
    filled = {"{doc_id}": DOCUMENT, "{thread_id}": DOCUMENT}
    filled |= dict.fromkeys(("{job_id}", "{finding_id}"), NOBODY)
    for name, value in filled.items():
        found = {(method, path.replace(name, value)) for method, path in found}
    assert found == KEYED.keys() | {("GET", "/healthz"), ("GET", "/readyz")}


def test_a_rate_is_each_keys_own_and_says_when_to_come_again(served: Served, keys: Path) -> None:
    one, other = write_keys(keys, ("one", "alpha", EVERY), ("other", "alpha", EVERY))
    client = served(keys=keys, requests_per_minute=3)
    replies = [client.get("/documents", headers=one) for _ in range(4)]
    assert [r.status_code for r in replies] == [200, 200, 200, 429]
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 60
    assert replies[-1].json()["error"]["type"] == "TooManyRequestsError"
    assert client.get("/documents", headers=other).status_code == 200
    assert client.get("/healthz", headers=one).status_code == 200


def never_read(app: FastAPI, client: TestClient, path: str, headers: dict[str, str]) -> int:
    """Status of a POST of 50 MB whose body may not be read."""
    status = list[int]()

    async def receive() -> Message:
        raise AssertionError("the body was read")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    sent = {"host": "127.0.0.1", "content-length": "50000000", "content-type": "multipart/form-data; boundary=x"}
    raw = [(name.lower().encode(), value.encode()) for name, value in {**sent, **headers}.items()]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": raw, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http"}
    assert client.portal
    client.portal.call(
        app, {**scope, "asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": ""}, receive, send
    )
    return status[0]


def test_no_byte_of_a_body_is_read_before_key_role_rate_and_quota_allow_it(
    apps: Apps, serve: Serve, uploads: Path, keys: Path
) -> None:
    entries = [("reader", "alpha", [Role.READ]), ("writer", "alpha", [Role.WRITE]), ("full", "small", EVERY)]
    reader, writer, full = write_keys(keys, *entries)
    app = apps(uploads, keys=keys, requests_per_minute=2, body_kb=100_000, quota={"storage_mb": 10})
    client = serve(app)
    refused = {"none": {}, "wrong": bearer("dr-wrong"), "no role": reader, "over quota": full}
    found = {name: never_read(app, client, "/ingest", headers) for name, headers in refused.items()}
    assert found == {"none": 401, "wrong": 401, "no role": 403, "over quota": 429}
    assert [client.get("/documents", headers=writer).status_code for _ in range(2)] == [403, 403]
    assert never_read(app, client, "/ingest", writer) == 429
    assert never_read(app, client, "/ask", {}) == never_read(app, client, "/v1/chat/completions", {}) == 401


def test_keys_come_and_go_with_their_file_while_the_server_runs(served: Served, keys: Path) -> None:
    one, other = new_key("one", "alpha", EVERY), new_key("other", "alpha", EVERY)
    keys.write_text(one[1], encoding="utf-8")
    client, status = served(keys=keys), list[list[int]]()
    for content in (one[1] + other[1], other[1], "[[key", other[1].replace("read", "rule"), None, one[1], ""):
        keys.write_text(content, encoding="utf-8") if content is not None else keys.unlink()
        status.append([client.get("/documents", headers=bearer(key)).status_code for key, _ in (one, other)])
    only_other = [401, 200]
    assert status == [[200, 200], only_other, only_other, only_other, only_other, [200, 401], [401, 401]]


def test_a_file_of_keys_is_read_again_by_its_content_and_a_broken_one_is_logged_once(keys: Path) -> None:
    (first, entry), (second, other) = new_key("a", "alpha", EVERY), new_key("b", "alpha", EVERY)
    keys.write_text(entry, encoding="utf-8")
    found, before = access(keys), keys.stat()
    keys.write_text(other, encoding="utf-8")
    os.utime(keys, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (keys.stat().st_size, keys.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert found.who(second).name == "b"
    with pytest.raises(RefusedError):
        found.who(first)
    keys.write_text(other[:-20], encoding="utf-8")
    with capture_logs() as logs:
        assert [found.who(second).name for _ in range(3)] == ["b"] * 3
    assert [line["log_level"] for line in logs] == ["warning"]


def test_disco_rag_key_makes_keys_and_refuses_roles_that_it_does_not_know() -> None:
    made = CliRunner().invoke(cli, ["key", "a", "--tenant", "alpha"])
    assert tomllib.loads(made.stdout)["key"][0]["tenant"] == "alpha"
    unknown = CliRunner().invoke(cli, ["key", "a", "--tenant", "t", "--role", "rule"]).exception
    assert isinstance(unknown, ConfigError)
    assert "read, write" in unknown.hint
    described = CliRunner().invoke(cli, ["key", "--help"], env={"COLUMNS": "200"}).stdout
    assert all(role in described for role in Role)


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        *((host, False) for host in ("0.0.0.0", "::", "192.168.1.5", "example.org")),
        *((host, True) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost")),
    ],
)
def test_a_server_without_keys_listens_to_this_machine_only(host: str, is_loopback: bool, keys: Path) -> None:
    write_keys(keys, ("a", "alpha", EVERY))
    assert not access(keys, host=host).is_open
    if is_loopback:
        assert access(None, host=host).is_open
    else:
        with pytest.raises(ConfigError, match="without keys"):
            access(None, host=host)


def test_a_server_whose_port_is_published_on_this_machine_only_needs_no_keys_and_says_how_to_add_them(
    keys: Path,
) -> None:
    with capture_logs() as logs:
        assert access(None, host="0.0.0.0", published_locally=True).is_open
    assert [line["log_level"] for line in logs] == ["warning"]
    assert "disco-rag key" in logs[0]["hint"]
    with pytest.raises(ConfigError, match="cannot be read"):  # once keys are named, they are required
        access(keys, host="0.0.0.0", published_locally=True)


FOREIGN = ["https://elsewhere.example", "null", "http://127.0.0.1.elsewhere.example"]
NO_ORIGIN = ["http://[", "//", "http://[::1", ""]
OWN = ["http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:8080"]


def test_a_web_page_of_another_site_may_not_use_a_server_without_keys(client: TestClient) -> None:
    found = {o: client.get("/session", headers={"Origin": o}).status_code for o in (*FOREIGN, *NO_ORIGIN, *OWN)}
    assert found == dict.fromkeys([*FOREIGN, *NO_ORIGIN], 403) | dict.fromkeys(OWN, 200)


def test_with_a_key_the_origin_does_not_matter(served: Served, keys: Path) -> None:
    (headers,) = write_keys(keys, ("a", "alpha", EVERY))
    client: TestClient = served(keys=keys)
    body = {"query": QUERY}
    reply = client.post("/ask", json=body, headers=headers | {"Origin": "https://elsewhere.example"})
    assert reply.status_code == 200
