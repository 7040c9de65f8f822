"""Run the command of a vLLM service of compose.gpu.yml on this machine: ``python deploy/vllm.py chat``.

``${NAME:-default}`` is filled in from the environment, as Compose does. Needs PyYAML, and ``vllm`` on the PATH.
"""

import os
import re
import sys
from pathlib import Path

import yaml

COMPOSE = Path(__file__).with_name("compose.gpu.yml")


def vllm_command(service: str) -> list[str]:
    """The arguments of ``vllm serve`` for a service, beginning with the model."""
    text = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda m: os.environ.get(m[1]) or m[2], COMPOSE.read_text("utf-8"))
    return yaml.safe_load(text)["services"][service]["command"]


if __name__ == "__main__":
    os.execvp("vllm", ["vllm", "serve", *vllm_command(sys.argv[1])])
