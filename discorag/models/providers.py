"""Language models by name: ``ollama:``, ``openai:``, any other provider of LangChain, and OpenAI-compatible servers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import httpx
from openai import DefaultAsyncHttpxClient, OpenAI

from discorag.config import NAMELESS, LlmSettings
from discorag.models.endpoint import bounded_replies, key_of
from discorag.models.protocol import Request
from discorag.schema.errors import ConfigError, ModelRejectedError, ModelUnavailableError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from ollama import Client

VARIABLES = "DISCO_RAG_LLM"
_ASK_S = 10.0
"""Seconds to wait for a server's list of models."""


@dataclass(frozen=True)
class Connection:
    """A chat model, in one event loop, and how it is asked.

    Args:
        chat: LangChain's client.
        context_tokens: How long prompt and output may be together.
        parameters: A request's limits and schema, as arguments of the client's calls; and whether it is streamed.
        says_why_it_ends: Whether each reply has a reason for its end; without one it is taken to be complete.
    """

    chat: BaseChatModel
    context_tokens: int
    parameters: Callable[[Request[Any], bool], dict[str, Any]]
    says_why_it_ends: bool = True


def connect(settings: LlmSettings) -> Connection:
    """Open the configured model for the running event loop. Blocks while it asks a server which models it has.

    Raises:
        ModelError: Ollama does not answer, or a server has no such model; and what clients raise.
        ConfigError: There is no such provider, or its package or key is missing.
    """
    if settings.base_url:
        return _compatible_server(settings, settings.base_url)
    if settings.provider == "ollama":
        return _ollama(settings)
    if settings.provider == "openai":
        return _openai(settings, _model_name(settings), settings.context_tokens)
    chat = _init_chat_model(settings, _model_name(settings), timeout=settings.timeout_s, max_retries=settings.retries)
    return own_model(chat, settings.context_tokens)


def own_model(chat: BaseChatModel, context_tokens: int) -> Connection:
    """A chat model that keeps its own settings: no limit and no schema is sent; replies are only checked."""
    return Connection(chat, context_tokens, lambda _request, _stream: {}, says_why_it_ends=False)


def _compatible_server(settings: LlmSettings, base_url: str) -> Connection:
    """An OpenAI-compatible server; one with a single model is asked for its name and context."""
    name, context, key = settings.model, settings.context_tokens, key_of(settings)
    if name == NAMELESS:
        timeout = min(_ASK_S, settings.timeout_s)
        with OpenAI(base_url=base_url, api_key=key, timeout=timeout, max_retries=0) as client:
            served = [model.model_dump() for model in client.models.list().data]
        name = _only([str(model["id"]) for model in served], f"The server at {base_url}", f"{base_url}#NAME")
        context = min(context, *(model.get("max_model_len") or context for model in served))
    return _openai(settings, name, context, base_url=base_url, api_key=key)


def _openai(settings: LlmSettings, name: str, context_tokens: int, **where: str) -> Connection:
    if not where and settings.api_key:
        where = {"api_key": settings.api_key.get_secret_value()}
    chat: Any = _init_chat_model(
        settings,
        name,
        **where,
        timeout=settings.timeout_s,
        max_retries=settings.retries,
        # Its own limit is asyncio.wait_for, which before Python 3.12 loses a cancel that meets a chunk.
        stream_chunk_timeout=None,
        stream_usage=True,
        use_responses_api=False,
        # Its own default client is shared between event loops and fails in the second.
        http_async_client=DefaultAsyncHttpxClient(timeout=settings.timeout_s, **bounded_replies(settings.reply_mb)),
    )
    return Connection(chat, context_tokens, _openai_parameters)


def _openai_parameters(request: Request[Any], stream: bool) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if request.beam_width > 1:
        body = {"use_beam_search": True, "n": request.beam_width}
    elif request.schema is not None:
        # In extra_body, because as an argument the client would parse the output itself and raise when it is cut off.
        schema = {"name": request.stage, "schema": request.schema, "strict": True}
        body = {"response_format": {"type": "json_schema", "json_schema": schema}}
    # ``stream`` is always sent: otherwise a callback of LangGraph would turn any call into a streamed one.
    given: dict[str, Any] = {"stream": stream, "max_tokens": request.max_tokens, "extra_body": body}
    return given if request.temperature is None else given | {"temperature": request.temperature}


def _ollama(settings: LlmSettings) -> Connection:
    """A model of the Ollama server at ``OLLAMA_HOST``, with as much of its context as ``context_tokens`` allows.

    Ollama's own default is 4,096 tokens, whatever the model has; it cuts longer prompts silently.
    """
    from ollama import Client

    client = Client(timeout=min(_ASK_S, settings.timeout_s))
    try:
        name = _installed_model(client, _model_name(settings))
        shown = client.show(name)
    except (ConnectionError, httpx.TransportError) as error:
        hint = "Start it with `ollama serve`, or set OLLAMA_HOST to its address."
        raise ModelUnavailableError(f"Ollama does not answer: {error}", hint=hint) from error
    finally:
        client.close()
    own = [n for key, n in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
    context = min(settings.context_tokens, *own)
    thinks = "thinking" in (shown.capabilities or ())  # it would think within the limit of its output
    client_options = {"timeout": settings.timeout_s, **bounded_replies(settings.reply_mb)}
    chat: Any = _init_chat_model(
        settings, name, async_client_kwargs=client_options, reasoning=False if thinks else None
    )

    def parameters(request: Request[Any], stream: bool) -> dict[str, Any]:
        options = {"num_ctx": context, "num_predict": request.max_tokens, "temperature": request.temperature}
        return {"stream": stream, "options": options, "format": request.schema}

    return Connection(chat, context, parameters)


def _installed_model(client: Client, name: str) -> str:
    """The model of this name, or the only one. Raises `ModelRejectedError`, which lists what is installed."""
    installed = [str(model.model) for model in client.list().models]
    if not name:
        return _only(installed, "Ollama", "ollama:NAME")
    if name not in installed and f"{name}:latest" not in installed:
        raise ModelRejectedError(
            f"Ollama has no model '{name}'; installed are {', '.join(installed) or 'none'}.",
            hint=f"Run `ollama pull {name}`, or name another one.",
        )
    return name


def _only(names: Sequence[str], server: str, spelling: str) -> str:
    """The only name. Raises `ModelRejectedError`."""
    if len(names) != 1:
        said = f"several models: {', '.join(names)}" if names else "no model"
        raise ModelRejectedError(f"{server} has {said}.", hint=f"Name one: DISCO_RAG_MODEL={spelling}")
    return names[0]


def _model_name(settings: LlmSettings) -> str:
    return settings.model.partition(":")[2]


def _init_chat_model(settings: LlmSettings, name: str, **options: Any) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    try:
        return cast("BaseChatModel", init_chat_model(name, model_provider=settings.provider, cache=False, **options))
    except Exception as error:  # packages of providers raise errors of their own
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "Check DISCO_RAG_MODEL, and that the provider's package and key are there."
        raise ConfigError(f"The language model '{settings.model}' cannot be used: {reason}", hint=hint) from error
