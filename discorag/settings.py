"""Settings: environment ``DISCO_RAG_*``, then ``disco-rag.toml``, then defaults that run without either.

Nested fields use two underscores: ``DISCO_RAG_LLM__BASE_URL=http://localhost:8000/v1``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from discorag.errors import ConfigError

CONFIG_FILE_VARIABLE = "DISCO_RAG_CONFIG"
DATA_VARIABLE = "DISCO_RAG_DATA"
"""Folder of the benchmarks' data; read by the evaluation only."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StoreSettings(_Section):
    """Where documents are kept."""

    kind: Literal["edge", "memory"] = Field(
        default="edge", description="Qdrant Edge on disk, or in-memory (lost at exit)."
    )
    path: Path = Field(default=Path(".disco-rag/store"), description="Folder of the Edge store, and of checkpoints.")
    url: str | None = Field(
        default=None, description="A Qdrant server in the folder's place, e.g. http://localhost:6333."
    )
    api_key: SecretStr | None = None
    prefix: str = Field(default="", description="Put before the server's collection names: docs, nodes.")
    timeout_s: float = Field(default=30.0, gt=0, description="Limit of one request to the server.")


class EncoderSettings(_Section):
    """The embedding model: the packaged MiniLM, or any OpenAI-compatible ``/v1/embeddings``."""

    base_url: str | None = Field(
        default=None, description="Endpoint, e.g. http://localhost:8001/v1. None: packaged MiniLM."
    )
    model: str = Field(default="all-MiniLM-L6-v2", description="Model name, as the endpoint knows it.")
    api_key: SecretStr | None = None
    query_instruction: str = Field(
        default="",
        description="Task description put before queries as 'Instruct: ...\\nQuery: ...' (Qwen3-Embedding wants one).",
    )
    batch_size: int = Field(default=32, ge=1)
    timeout_s: float = Field(default=60.0, gt=0)


class LlmSettings(_Section):
    """The language model: any OpenAI-compatible endpoint, none (``base_url`` unset), or the embedded one."""

    kind: Literal["endpoint", "embedded"] = Field(
        default="endpoint", description="embedded: SmolLM2-135M inside this process (make embedded-llm sets it up)."
    )
    base_url: str | None = Field(default=None, description="Endpoint, e.g. a vLLM server: http://localhost:8000/v1.")
    model: str = Field(default="default", description="Model name, as the endpoint knows it.")
    api_key: SecretStr | None = None
    timeout_s: float = Field(default=120.0, gt=0, description="Limit of one HTTP request.")
    retries: int = Field(default=3, ge=0, description="Further attempts on timeout, 429 and 5xx.")
    concurrency: int = Field(default=8, ge=1, description="Requests under way at once.")
    context_tokens: int = Field(default=32_768, ge=512, description="The model's context; longer prompts are refused.")
    cache: Path | None = Field(
        default=Path(".disco-rag/cache/llm"), description="Disk cache of replies; None turns it off."
    )


class RerankerSettings(_Section):
    """A reranker's endpoint, for HTSIR; without one the packaged encoder's token vectors rerank."""

    base_url: str | None = Field(default=None, description="E.g. http://localhost:8002/v1.")
    model: str = Field(default="default", description="Model name, as the endpoint knows it.")
    api_key: SecretStr | None = None
    path: Literal["/rerank", "/score"] = Field(default="/rerank", description="Form of the endpoint; vLLM has both.")
    timeout_s: float = Field(default=60.0, gt=0, description="Limit of one HTTP request.")


class ReadingSettings(_Section):
    """How files become documents and chunks."""

    chunk_tokens: int = Field(default=256, ge=16, description="Chunk size in encoder tokens, special tokens included.")
    max_document_mb: float = Field(default=20.0, gt=0, description="Larger files are refused.")

    @property
    def max_bytes(self) -> int:
        """``max_document_mb`` in bytes."""
        return int(self.max_document_mb * 1_000_000)


class Settings(BaseSettings):
    """Everything that is configured; one immutable value."""

    model_config = SettingsConfigDict(env_prefix="DISCO_RAG_", env_nested_delimiter="__", extra="forbid", frozen=True)

    tenant: str = Field(default="default", min_length=1)
    corpus: str = Field(default="default", min_length=1)
    store: StoreSettings = StoreSettings()
    encoder: EncoderSettings = EncoderSettings()
    llm: LlmSettings = LlmSettings()
    reranker: RerankerSettings = RerankerSettings()
    reading: ReadingSettings = ReadingSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then the TOML file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, _config_file())


def read_settings() -> Settings:
    """The settings of this process.

    Raises:
        ConfigError: A value is impossible, a name is unknown, or a file that was named is missing or no TOML.
    """
    prefix = "DISCO_RAG_"
    known = {CONFIG_FILE_VARIABLE, DATA_VARIABLE, *(f"DISCO_RAG_{n.upper()}" for n in Settings.model_fields)}
    unknown = [n for n in os.environ if n.startswith(prefix) and n.split("__")[0] not in known]
    if unknown:
        raise ConfigError(
            f"Unknown settings: {', '.join(sorted(unknown))}.", hint=f"Known are {', '.join(sorted(known))}."
        )
    file = _config_file()
    if file.is_dir() or (CONFIG_FILE_VARIABLE in os.environ and not file.is_file()):
        raise ConfigError(f"{file} is no settings file.", hint=f"Check {CONFIG_FILE_VARIABLE} and the current folder.")
    try:
        return Settings()
    except ValidationError as error:
        lines = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"Settings: {lines}.", hint=f"Check DISCO_RAG_* variables and {file}.") from error
    except (SettingsError, ValueError, OSError) as error:  # ValueError: broken TOML, bytes that are not UTF-8
        raise ConfigError(
            f"Settings cannot be read: {error}.", hint=f"Check DISCO_RAG_* variables and {file}."
        ) from error


def _config_file() -> Path:
    return Path(os.environ.get(CONFIG_FILE_VARIABLE, "disco-rag.toml"))
