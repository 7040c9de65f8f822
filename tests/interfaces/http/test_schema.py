"""The whole OpenAPI schema, driven by Schemathesis with all of its checks."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import schemathesis
from fastapi.testclient import TestClient
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from discorag.config import Settings
from interfaces.http.access import Role
from interfaces.http.app import create_app
from tests.interfaces.http.parts import PATIENCE_S, Apps, Listening, write_keys

USUAL = ["2xx", 401, 403, 404, "5xx"]
EXCUSED: list[dict[str, Any]] = [
    # Options exclude each other (context=nodes needs a retriever over trees), and the last message of a conversation is
    # the user's: the schema, which is about single fields, says none of this.
    {"include-path": path, "checks": {"positive_data_acceptance": {"expected-statuses": [*USUAL, 422]}}}
    for path in ("/ask", "/v1/chat/completions")
] + [
    # Which names a file may have is not in the schema; and a field of a form is text, whatever type it was made from.
    {
        "include-path": "/ingest",
        "checks": {
            "positive_data_acceptance": {"expected-statuses": [*USUAL, 415, 422]},
            "negative_data_rejection": {"enabled": False},
        },
    }
]


@pytest.fixture
def api(apps: Apps, tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    """The schema of a server with keys; requests carry one that may do everything."""
    home = tmp_path_factory.mktemp("schema")
    (headers,) = write_keys(home / "keys.toml", ("every", "alpha", tuple(Role)))
    app = apps(home / "uploads", keys=home / "keys.toml")
    with Listening(app) as server:
        config = SchemathesisConfig.from_dict(  # pyright: ignore[reportUnknownMemberType]
            {
                "seed": 1,
                "base-url": server.url,
                "headers": headers,
                "request-timeout": PATIENCE_S,
                "generation": {"max-examples": 20, "deterministic": True, "database": "none"},
                "operations": EXCUSED,
            }
        )
        yield schemathesis.openapi.from_dict(app.openapi(), config=config)


def find_violations(schema: schemathesis.BaseSchema) -> Iterator[str]:
    """Everything that Schemathesis holds against the server, of all its phases, sequences of requests included."""
    load_all_checks()
    left = {f"{method.upper()} {path}" for path, methods in schema.raw_schema["paths"].items() for method in methods}
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            yield str(event)
        elif isinstance(event, events.ScenarioFinished):
            left.discard(event.recorder.label)
            checks = (check for checks in event.recorder.checks.values() for check in checks)
            for info in (check.failure_info for check in checks if check.failure_info):
                yield f"{event.recorder.label}: {info.failure.title}: {info.failure.message}\n{info.code_sample}"
    yield from (f"{operation} was never tried" for operation in sorted(left))


def test_every_call_field_and_body_is_explained() -> None:
    api = create_app(Settings()).openapi()
    schemas, calls = api["components"]["schemas"], [c for path in api["paths"].values() for c in path.values()]
    fields = {
        f"{name}.{field}": s for name, schema in schemas.items() for field, s in schema.get("properties", {}).items()
    }
    parameters = {p["name"]: p | p["schema"] for call in calls for p in call.get("parameters", ())}
    silent = {name for name, found in {**fields, **parameters, **schemas}.items() if not found.get("description")}
    assert silent == set(), "describe them in a docstring, a Field, or interfaces/http/docs.toml"
    assert all(call["summary"].endswith(".") for call in calls)
    contents = [content for call in calls for content in call.get("requestBody", {"content": {}})["content"].values()]
    bodies = {content["schema"]["$ref"].rpartition("/")[2] for content in contents}
    assert {name for name in bodies if not schemas[name].get("examples")} == set()


def test_every_path_refuses_a_query_parameter_that_it_does_not_know(client: TestClient) -> None:
    paths: dict[str, dict[str, Any]] = create_app(Settings()).openapi()["paths"]
    for path, method in ((path, method) for path, methods in paths.items() for method in methods):
        where = re.sub(r"{[^}]*}", str(UUID(int=0)), path)
        reply = client.request(method, where, params={"colour": "red"})
        assert (path, method, reply.status_code) == (path, method, 422)
        assert "no query parameter 'colour'" in reply.json()["error"]["message"]
    hint = client.get("/documents", params={"colour": "red"}).json()["error"]["hint"]
    assert hint == "Known parameters: corpus, limit, offset."


@pytest.mark.deep
def test_no_request_finds_the_api_at_odds_with_its_schema(api: schemathesis.BaseSchema) -> None:
    assert list(find_violations(api)) == []
