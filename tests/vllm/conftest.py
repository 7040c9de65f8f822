"""The servers, started when a test first needs them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from discorag.config import LlmSettings
from discorag.models.gateway import Gateway
from discorag.models.packaged import MINILM, packaged_folder
from tests.vllm.server import CHAT, CONTEXT_TOKENS, POOLING, SMOLLM2, VllmServer


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the servers' logs are."""
    return tmp_path_factory.mktemp("vllm")


@pytest.fixture(scope="session")
def chat(logs: Path) -> Iterator[VllmServer]:
    """SmolLM2."""
    with VllmServer(SMOLLM2, "smollm2", *CHAT, log=logs / "chat.log") as server:
        yield server


@pytest.fixture(scope="session")
def pooling(logs: Path) -> Iterator[VllmServer]:
    """The packaged MiniLM."""
    folder = packaged_folder(MINILM.name)
    with VllmServer(folder, "minilm", *POOLING, log=logs / "pooling.log") as server:
        yield server


@pytest.fixture
def llm(chat: VllmServer) -> LlmSettings:
    """The endpoint, without disk cache and retries."""
    return LlmSettings(
        base_url=chat.base_url, model=chat.name, cache=None, retries=0, context_tokens=CONTEXT_TOKENS, timeout_s=170
    )


@pytest.fixture
def gateway(llm: LlmSettings) -> Gateway:
    """Our client of it."""
    return Gateway(llm)
