"""docker-compose.yml as Compose reads it, and the secrets that ``make secrets`` makes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml
from pydantic import BaseModel, Field

ROOT = Path(__file__).parents[1]
SERVERS = ["chat", "embed", "rerank"]


class Mount(BaseModel):
    source: str
    target: str


class Health(BaseModel):
    test: list[str]


class Limits(BaseModel):
    cpus: float = Field(gt=0)
    memory: str = Field(pattern=r"^\d+g$")
    pids: int = Field(gt=0)


class Resources(BaseModel):
    limits: Limits


class Deploy(BaseModel):
    resources: Resources


class Service(BaseModel):
    image: str
    profiles: set[str]
    ports: list[str | dict[str, str | int]] = []
    networks: list[str]
    secrets: list[str | Mount]
    environment: dict[str, str | int] = {}
    entrypoint: list[str] = []
    command: list[str] = []
    depends_on: dict[str, dict[str, str]] = {}
    healthcheck: Health | None = None
    cap_drop: list[str]
    security_opt: list[str]
    read_only: bool = False
    tmpfs: list[str] = []
    stop_grace_period: str = "10s"
    deploy: Deploy

    @property
    def mounts(self) -> list[Mount]:
        """Its secrets in the long form."""
        return [Mount(source=s, target=s) if isinstance(s, str) else s for s in self.secrets]

    def flag(self, name: str) -> str:
        """Value of ``--name=value`` in the command."""
        return next(part.split("=", 1)[1] for part in self.command if part.startswith(f"--{name}="))


class Compose(BaseModel):
    services: dict[str, Service]
    networks: dict[str, dict[str, bool] | None]
    secrets: dict[str, dict[str, str]] = Field(default_factory=dict)

    def up(self, profile: str) -> set[str]:
        """Names of the services of ``docker compose --profile ... up``."""
        return {name for name, service in self.services.items() if profile in service.profiles}


def read_compose(**variables: str) -> Compose:
    """docker-compose.yml as Compose reads it where these variables are set."""
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    filled = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda m: variables.get(m[1], m[2]), text)
    left = re.findall(r"(?<!\$)\$[\w{]\w*", filled)
    assert not left, f"variables without a default: {left}"
    return Compose.model_validate(yaml.safe_load(filled.replace("$$", "$")))


COMPOSE = read_compose()


def make_secrets(folder: Path) -> str:
    command = [sys.executable, str(ROOT / "deploy/make_secrets.py")]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
