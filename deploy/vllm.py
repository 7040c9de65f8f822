"""Run the command of a vLLM service of docker-compose.yml on this machine: ``python deploy/vllm.py chat --port 8000``.

Options are passed on to ``vllm serve``. ``${NAME:-default}`` is filled in from the environment, as Compose does. Needs
PyYAML, and ``vllm`` on the PATH.
"""

import argparse
import os
import re
from pathlib import Path
from typing import Any

import yaml

COMPOSE = Path(__file__).parents[1] / "docker-compose.yml"


def vllm_commands() -> dict[str, list[str]]:
    """The arguments of ``vllm serve`` by service; the first is the model."""
    text = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda m: os.environ.get(m[1]) or m[2], COMPOSE.read_text("utf-8"))
    services: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return {name: s["command"] for name, s in services.items() if s.get("entrypoint") == ["vllm", "serve"]}


def main() -> None:
    """Become ``vllm serve``. A service that does not exist, or a missing ``vllm``, ends with a message."""
    commands = vllm_commands()
    parser = argparse.ArgumentParser(description="Run a vLLM service of docker-compose.yml on this machine.")
    parser.add_argument("service", choices=sorted(commands))
    given, options = parser.parse_known_args()
    command = ["vllm", "serve", *commands[given.service], *options]
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        parser.error("There is no vllm on the PATH. `make vllm` installs and starts it.")


if __name__ == "__main__":
    main()
