"""A client of a server whose paths are not those of the OpenAI API, or only one of them is."""

from __future__ import annotations

from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic import SecretStr


def client_of(base_url: str | None, api_key: SecretStr | None, timeout_s: float) -> AsyncOpenAI:
    """A client for one event loop; whoever asks does the retries.

    The openai client posts to any path, and its failures are those that `discorag.models.retry.Backoff` knows. Without
    a key of its own it would send OPENAI_API_KEY to somebody else's server.
    """
    key = api_key.get_secret_value() if api_key else "none"
    http = DefaultAsyncHttpxClient(timeout=timeout_s)
    return AsyncOpenAI(base_url=base_url, api_key=key, timeout=timeout_s, max_retries=0, http_client=http)
