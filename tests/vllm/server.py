"""A real vLLM on this machine's CPU, from the environment that `make test-vllm` builds.

with VllmServer(SMOLLM2, "smollm2", *CHAT, log=folder / "chat.log") as server:
    settings = LlmSettings(base_url=server.base_url, model=server.name)
"""

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

import httpx

from discorag.schema.errors import ConfigError
from tests.servers.loopback import free_port

ROOT = Path(__file__).parent.parent.parent
HOME = ROOT / ".venv-vllm"
PYTHON = HOME / "bin" / "python"
SMOLLM2 = HOME / "smollm2"
CONTEXT_TOKENS = 5120
"""Fewer than the 8,192 that SmolLM2 was trained on: a model of this size fills what it is given."""
BLOCK = 128
"""Tokens a block of the prefix cache: vLLM's default on a CPU."""
CHAT = (
    "--dtype=bfloat16",
    f"--max-model-len={CONTEXT_TOKENS}",
    "--max-num-seqs=8",
    "--enforce-eager",  # compiling takes longer than all tests
    "--enable-prompt-tokens-details",
    '--structured-outputs-config={"backend": "xgrammar", "disable_any_whitespace": true}',
)
POOLING = ("--runner=pooling", "--dtype=float32", "--max-model-len=256", "--max-num-seqs=8", "--enforce-eager")
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "2",  # GB
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "OMP_NUM_THREADS": "2",
}

_START_S = 300.0
_STOP_S = 20.0


class VllmServer:
    """A server process, between ``with`` and its end.

    Args:
        model: Folder of the model.
        name: Its name for clients.
        *arguments: Arguments for ``vllm serve``.
        log: File for what the server prints.

    Raises:
        ConfigError: On entering: it is not installed, or does not start; with the end of its log.
    """

    def __init__(self, model: Path, name: str, *arguments: str, log: Path) -> None:
        self.name = name
        self.log = log
        self._port = free_port()
        served = (f"--served-model-name={name}", "--host=127.0.0.1", f"--port={self._port}")
        self._command = [str(PYTHON), "-m", "vllm.entrypoints.cli.main", "serve", str(model), *served, *arguments]

    @property
    def address(self) -> str:
        """Its root."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """What goes into ``base_url`` settings."""
        return f"{self.address}/v1"

    def __enter__(self) -> Self:
        if not PYTHON.exists():
            raise ConfigError(f"There is no {PYTHON}.", hint="Run: make test-vllm.")
        with self.log.open("wb") as log:
            # A session of its own, so that its engine's process can be stopped with it.
            self._process = subprocess.Popen(
                self._command, env=os.environ | ENVIRONMENT, stdout=log, stderr=log, start_new_session=True
            )
        try:
            self._wait_until_healthy()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_S)
        self.kill()

    def kill(self) -> None:
        """End it and its engine at once."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self._process.wait()

    def metric(self, name: str) -> float:
        """A gauge or counter of ``/metrics``, e.g. ``vllm:num_requests_running``, summed over its labels."""
        text = httpx.get(f"{self.address}/metrics", timeout=10).text
        found = re.findall(rf"^{re.escape(name)}(?:{{.*}})? (\S+)$", text, re.MULTILINE)
        if not found:
            raise ConfigError(f"The server has no metric {name}.", hint="See its /metrics.")
        return sum(map(float, found))

    def _wait_until_healthy(self) -> None:
        end = time.monotonic() + _START_S
        while time.monotonic() < end and self._process.poll() is None:
            try:
                if httpx.get(f"{self.address}/health", timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.5)
        raise ConfigError("vLLM does not start.", hint=self.log.read_text("utf-8", "replace")[-4000:])
