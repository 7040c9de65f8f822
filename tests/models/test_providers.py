"""Language models by name, with unmodified clients against servers on loopback that behave like Ollama and OpenAI."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from langchain_core.language_models import GenericFakeChatModel

from discorag.config import LlmSettings, Settings
from discorag.models.chat import THINKING_TOKENS, ChatClient
from discorag.models.gateway import Gateway
from discorag.models.providers import own_model
from discorag.schema.errors import (
    ConfigError,
    InvalidOutputError,
    ModelError,
    ModelRejectedError,
    ModelUnavailableError,
    OutputTruncatedError,
    Usage,
)
from tests.models.helpers import GOOD, Fruit, fruit_request, streamed, text_request
from tests.servers.ollama import OllamaServer
from tests.servers.scripted import Body, Scripted, ScriptedServer

QWEN = {"qwen3:8b": 40_960}
LONG = "The answer is long enough for several pieces, with ünïcödé 世界."


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Gateway]:
    """Makes the gateway of a model by its name; ``ollama:`` is the server given."""

    def make(name: str, server: OllamaServer | None = None, **llm: Any) -> Gateway:
        if server:
            monkeypatch.setenv("OLLAMA_HOST", server.host)
        settings = Settings(model=name, llm=LlmSettings.model_validate({"cache": None, "retries": 0, **llm}))
        return Gateway(settings.llm_for("reader"))

    return make


Named = Callable[..., Gateway]


@pytest.mark.parametrize(("limit", "context"), [(32_768, 32_768), (65_536, 40_960)])
async def test_ollama_is_asked_for_as_much_context_as_model_and_settings_have(
    named: Named, limit: int, context: int
) -> None:
    with OllamaServer(lambda body: GOOD, installed=QWEN) as server:
        model = named("ollama:qwen3:8b", server, context_tokens=limit)
        reply = await model.complete(fruit_request(max_tokens=77, temperature=0.5))
        assert await model.context_tokens() == context
    [body] = server.requests
    assert body["options"] == {"num_ctx": context, "num_predict": 77, "temperature": 0.5}
    assert (body["model"], body["stream"], body["format"]) == ("qwen3:8b", False, Fruit.model_json_schema())
    assert (reply.value, model.name) == (Fruit(name="fig", count=3), "ollama:qwen3:8b")
    assert (reply.usage.calls, reply.usage.tokens_in > 0, reply.usage.tokens_out) == (1, True, len(GOOD) // 4)


async def test_ollama_streams_and_its_tokens_are_counted(named: Named) -> None:
    with OllamaServer([LONG], installed=QWEN) as server:
        pieces, reply = await streamed(named("ollama:qwen3:8b", server), text_request())
    assert len(pieces) > 3
    assert "".join(pieces) == reply.text == LONG
    assert reply.usage.tokens_out == len(LONG) // 4
    assert server.requests[0]["stream"] is True


@pytest.mark.parametrize(("capabilities", "think"), [(["completion", "thinking"], False), (["completion"], None)])
async def test_a_model_that_could_think_is_told_not_to(
    named: Named, capabilities: list[str], think: bool | None
) -> None:
    with OllamaServer(["x"], installed=QWEN, capabilities=capabilities) as server:
        await named("ollama:qwen3:8b", server).complete(text_request())
    assert server.requests[0].get("think") is think


@pytest.mark.parametrize("name", ["ollama:", "ollama:llama3.2"])
async def test_the_only_model_needs_no_name_and_the_latest_no_tag(named: Named, name: str) -> None:
    with OllamaServer(["x"], installed={"llama3.2:latest": 8192}) as server:
        assert (await named(name, server).complete(text_request())).value == "x"


@pytest.mark.parametrize(
    ("name", "installed", "said"),
    [
        ("ollama:", {"a:1b": 1024, "b:2b": 1024}, "several models: a:1b, b:2b. .*DISCO_RAG_MODEL=ollama:NAME"),
        ("ollama:", {}, "Ollama has no model. "),
        ("ollama:qwen3:9b", {"a:1b": 1024, "b:2b": 1024}, "no model 'qwen3:9b'; .* a:1b, b:2b. .*ollama pull qwen3:9b"),
    ],
)
async def test_a_missing_or_unknown_name_lists_what_is_installed(
    named: Named, name: str, installed: dict[str, int], said: str
) -> None:
    with OllamaServer(installed=installed) as server, pytest.raises(ModelRejectedError, match=said):
        await named(name, server).complete(text_request())
    assert not server.requests


async def test_without_a_running_ollama_the_error_says_how_to_start_it(named: Named) -> None:
    with OllamaServer(installed=QWEN) as server:
        model = named("ollama:qwen3:8b", server)
    with pytest.raises(ModelUnavailableError, match="ollama serve"):
        await model.complete(text_request())


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (Scripted("cut off", finish_reason="length"), OutputTruncatedError),
        (Scripted("busy", status=503), ModelUnavailableError),
        (Scripted("late", delay_s=300), ModelUnavailableError),
        (Scripted(""), InvalidOutputError),
    ],
    ids=["cut", "busy", "hangs", "empty"],
)
async def test_failures_of_ollama_are_typed(named: Named, bad: Scripted, error: type[Exception]) -> None:
    with OllamaServer(lambda body: bad, installed=QWEN) as server, pytest.raises(error):
        await named("ollama:qwen3:8b", server, timeout_s=0.5).complete(text_request())


async def test_a_stream_of_ollama_that_breaks_off_is_unavailable(named: Named) -> None:
    with (
        OllamaServer([Scripted(LONG, break_after=2)], installed=QWEN) as server,
        pytest.raises(ModelUnavailableError) as caught,
    ):
        await streamed(named("ollama:qwen3:8b", server), text_request())
    assert caught.value.usage == Usage(calls=1)


def reasoning(body: Body) -> Scripted | str:
    """Refuses a temperature as OpenAI's reasoning models do."""
    said = "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) is supported."
    return Scripted(said, status=400) if "temperature" in body else "Tides rise."


@pytest.mark.parametrize("stream", [False, True])
async def test_a_temperature_that_a_model_refuses_is_left_out_from_then_on(
    named: Named, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    with ScriptedServer(reasoning) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "k1")
        model = named("openai:gpt-5-mini")
        for _ in range(2):
            request = text_request(max_tokens=100)
            reply = (await streamed(model, request))[1] if stream else await model.complete(request)
            assert (reply.text, reply.usage.calls) == ("Tides rise.", 1)
    assert ["temperature" in body for body in server.requests] == [True, False, False]
    assert server.requests[-1]["max_completion_tokens"] == 100 + THINKING_TOKENS
    assert {body["model"] for body in server.requests} == {"gpt-5-mini"}
    assert server.authorizations == ["Bearer k1"] * 3


async def test_a_schema_that_a_server_refuses_is_left_out_and_the_reply_still_checked(named: Named) -> None:
    def respond(body: Body) -> Scripted | str:
        return Scripted("response_format is not supported", status=400) if "response_format" in body else GOOD

    with ScriptedServer(respond) as server:
        model = named(f"{server.base_url}#any")
        assert (await model.complete(fruit_request())).value == Fruit(name="fig", count=3)
        await model.complete(fruit_request())
    assert ["response_format" in body for body in server.requests] == [True, False, False]


async def test_a_server_with_one_model_needs_no_name_and_tells_its_context(named: Named) -> None:
    with ScriptedServer(["x"], model={"id": "smollm2", "max_model_len": 8192}) as server:
        model = named(server.base_url)
        assert await model.context_tokens() == 8192
        await model.complete(text_request())
    assert server.requests[0]["model"] == "smollm2"


async def test_an_unknown_provider_and_a_missing_key_are_errors_of_the_configuration(
    named: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("acme:large", "openai:gpt-5-mini"):
        with pytest.raises(ConfigError, match=f"'{name}' cannot be used.*DISCO_RAG_MODEL"):
            await named(name).complete(text_request())


class _Unreachable(GenericFakeChatModel):
    """As clients of other providers do, raises an error of its own from that of httpx."""

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        try:
            raise next(self.messages)  # type: ignore[misc]
        except httpx.HTTPError as error:
            raise RuntimeError("Connection error.") from error


@pytest.mark.parametrize(
    ("cause", "kind", "message"),
    [
        (httpx.ConnectError("refused"), ModelUnavailableError, "unavailable"),
        (httpx.ReadTimeout("slow"), ModelUnavailableError, "in time"),
        (ValueError("no such region"), ModelRejectedError, "ValueError: no such region"),
    ],
)
async def test_a_client_of_another_provider_that_cannot_reach_it_is_told_from_one_that_fails(
    cause: Exception, kind: type[ModelError], message: str
) -> None:
    settings = LlmSettings(model="acme", cache=None)
    chat = _Unreachable(messages=iter([cause]))  # type: ignore[arg-type]
    with pytest.raises(kind, match=message):
        await Gateway(settings, chat=ChatClient(settings, own_model(chat, 4096))).complete(text_request())
