"""Settings: environment ``DISCO_RAG_*``, then ``disco-rag.toml``, then defaults that run.

The TOML file is the nearest one in the working directory or a folder above it. Everything that is stored lies below
`Settings.home`. Nested fields use two underscores: ``DISCO_RAG_LLM__TIMEOUT_S=60``.
"""

import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from discorag.schema.errors import ConfigError

CONFIG_FILE = "disco-rag.toml"
DATA_VARIABLE = "DISCO_RAG_DATA"
"""Folder of the benchmarks' data; read by the evaluation only."""
HOW_TO_NAME_A_MODEL = "Set DISCO_RAG_MODEL, for example to ollama:qwen3:8b or http://localhost:8000/v1."
NAMELESS = "default"
"""A model without a name: the only one of its server."""
Role = Literal["reader", "summariser", "router", "judge", "parser"]
"""What a language model is used for: the reader writes graph, plan and answer."""


def _check_model_name(name: str) -> str:
    if ":" not in name:
        raise ValueError(
            f"{name!r} names no provider: write ollama:{name}, openai:{name} or http://HOST:PORT/v1#{name}"
        )
    return name


ModelName = Annotated[str, AfterValidator(_check_model_name)]
"""``ollama:qwen3:8b``, ``openai:gpt-5-mini``, any other provider of LangChain, or ``http://localhost:8000/v1#name``."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EndpointSettings(_Section):
    """A model server: its address, key and limits."""

    base_url: str | None = None
    api_key: SecretStr | None = Field(default=None, description="Sent to this server only.")
    timeout_s: float = Field(default=60.0, gt=0, description="Limit of one HTTP request.")
    retries: int = Field(default=2, ge=0, description="Further attempts on timeout, 429, 5xx; Ollama is called once.")


_S = TypeVar("_S", bound=_Section)


class StoreSettings(_Section):
    """Where documents are stored."""

    kind: Literal["edge", "memory"] = Field(
        default="edge", description="edge: in the folder, with an index by Qdrant Edge. memory: all is lost at exit."
    )
    path: Path = Field(
        default=Path("store"), description="Folder of the database and its index. A relative path is below home."
    )
    database_url: SecretStr | None = Field(default=None, description="Set DISCO_RAG_DATABASE_URL instead.")
    min_free_mb: float = Field(
        default=256.0, ge=0, description="Nothing is stored if the folder's disk has less free space."
    )
    url: str | None = Field(default=None, description="A Qdrant server for the index, e.g. http://localhost:6333.")
    api_key: SecretStr | None = Field(default=None, description="Key of the Qdrant server.")
    collection: str | None = Field(
        default=None,
        max_length=255,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$",
        description="Collection of the Qdrant server; one store has it alone. None: disco-rag- and the store's own id.",
    )
    timeout_s: float = Field(default=30.0, gt=0, description="Limit of one request to the server.")


class EncoderSettings(EndpointSettings):
    """The embedding model: the packaged MiniLM, another one in this process, or any ``/v1/embeddings``."""

    kind: str = Field(
        default="auto",
        description="auto: endpoint where base_url is set, packaged for the packaged model, else "
        "sentence-transformers; or one that a package adds.",
    )
    base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint, e.g. http://localhost:8001/v1. None: in this process."
    )
    model: str = Field(
        default="all-MiniLM-L6-v2",
        description="Model name, as the endpoint knows it. In this process the packaged all-MiniLM-L6-v2, or a "
        "model of sentence-transformers: its folder, or its name on the Hugging Face hub.",
    )
    query_prefix: str = Field(
        default="",
        description="Put unchanged before every query, e.g. 'query: ' for E5. Qwen3-Embedding and E5-instruct need "
        "'Instruct: <task>\\nQuery: ', with a line break. A changed prefix is another encoder.",
    )
    passage_prefix: str = Field(
        default="",
        description="Put before every passage, e.g. 'passage: ' for E5. If both prefixes are empty, the prompts that a "
        "model of sentence-transformers defines itself are used.",
    )
    tokenizer: str | None = Field(
        default=None,
        description="Tokenizer of an endpoint's model, which counts the tokens of chunks: a tokenizer.json, a folder "
        "that has one, or the model's name on the Hugging Face hub. None: the packaged MiniLM's, whose window is 256.",
    )
    max_tokens: int | None = Field(
        default=None,
        ge=16,
        description="Window of an endpoint's model, special tokens included; set it together with tokenizer. "
        "None: what the endpoint says (vLLM does).",
    )
    batch_size: int = Field(default=32, ge=1, description="Texts encoded at once.")


class ParserSettings(_Section):
    """The default parser of RST trees."""

    kind: str = Field(default="local", description="A parser by name, e.g. local or rules.")
    folder: Path | None = Field(
        default=None, description="A parser that make train-parser wrote, instead of the packaged one."
    )


class LlmSettings(EndpointSettings):
    """The language model, as DISCO_RAG_MODEL names it, and its limits."""

    base_url: str | None = Field(
        default=None, description="OpenAI-compatible endpoint, e.g. a vLLM server: http://localhost:8000/v1."
    )
    model: str = Field(
        default=NAMELESS,
        description="The model's name at the endpoint; without an endpoint, provider and name, as in ollama:qwen3:8b.",
    )
    timeout_s: float = Field(default=120.0, gt=0, description="Limit of one HTTP request.")
    silence_s: float = Field(
        default=60.0,
        gt=0,
        description="Longest time between two pieces of a streamed reply, once one had text or thinking.",
    )
    reply_mb: float = Field(
        default=16.0, gt=0, description="Longest reply that is read, with thinking and everything around it."
    )
    failures: int = Field(
        default=3,
        ge=1,
        description="Calls that fail in a row until questions with a time limit (those of the HTTP API) are answered "
        "without the language model; one that times out is enough.",
    )
    pause_s: float = Field(
        default=10.0,
        gt=0,
        description="Seconds between two test calls after that; questions ask it again once it answers.",
    )
    concurrency: int = Field(default=8, ge=1, description="Most requests at a time.")
    context_tokens: int = Field(
        default=32_768,
        ge=512,
        description="The model's context; longer prompts are refused. For Ollama, and for a server whose model is not "
        "named, an upper limit: the model's own context counts if it is smaller.",
    )
    cache: Path | None = Field(
        default=Path("cache/llm"),
        description='Disk cache of replies, below home; DISCO_RAG_LLM={"cache":null} turns it off.',
    )

    @property
    def provider(self) -> str:
        """LangChain's name of the provider; empty where no language model is configured."""
        if self.base_url:
            return "openai"
        return self.model.partition(":")[0] if ":" in self.model else ""

    def named(self, name: str) -> Self:
        """The same limits for the model of a `ModelName`, without the key if it is on another server."""
        address, _, model = name.partition("#")
        is_url = name.startswith(("http://", "https://"))
        where = {"base_url": address, "model": model or NAMELESS} if is_url else {"base_url": None, "model": name}
        other = self.model_copy(update=where)
        is_elsewhere = self.provider and (self.base_url, self.provider) != (other.base_url, other.provider)
        return other.model_copy(update={"api_key": None}) if is_elsewhere else other


class ModelRoles(_Section):
    """Models for single roles, named like DISCO_RAG_MODEL, which plays the roles that are not set."""

    reader: ModelName | None = Field(default=None, description="Writes statements, plan and answer.")
    summariser: ModelName | None = Field(default=None, description="Summarises nodes of retrieval trees.")
    router: ModelName | None = Field(default=None, description="Chooses headings (RDR2).")
    judge: ModelName | None = Field(default=None, description="Checks written sentences (verifier=llm).")
    parser: ModelName | None = Field(default=None, description="Makes RST trees (parser=paper).")


class RerankerSettings(EndpointSettings):
    """The cross-encoder that scores how well a text answers: the packaged one, another in this process, or served."""

    kind: str = Field(
        default="auto",
        description="auto: endpoint where base_url is set, cross-encoder where another model is named, else packaged; "
        "or one that a package adds.",
    )
    base_url: str | None = Field(default=None, description="Endpoint, e.g. http://localhost:8002/v1.")
    model: str | None = Field(
        default=None,
        description="Model name, as the endpoint knows it. In this process a cross-encoder: its name on the Hugging "
        "Face hub, e.g. BAAI/bge-reranker-v2-m3, its folder, or a folder of model.onnx and tokenizer.json. None: the "
        "packaged ms-marco-MiniLM-L-12-v2.",
    )


class NliSettings(_Section):
    """The model of natural language inference, in this process; none by default."""

    model: str | None = Field(
        default=None,
        description="A sequence-classification model with a label 'entailment', or with one output: its name on the "
        "Hugging Face hub, its folder, or a folder with its model.onnx.",
    )
    threshold: float = Field(
        default=0.5, gt=0, le=1, description="Probability from which a passage entails a sentence."
    )


class ReadingSettings(_Section):
    """How files become documents and chunks."""

    chunk_tokens: int = Field(default=256, ge=16, description="Chunk size in encoder tokens, special tokens included.")
    max_document_mb: float = Field(default=20.0, gt=0, description="Larger files are refused.")
    max_sentences: int = Field(default=100_000, ge=1, description="Documents with more sentences are refused.")
    convert_seconds: float = Field(
        default=120.0, gt=0, description="Processor time to convert a file that is not text; after that it is refused."
    )

    @property
    def max_bytes(self) -> int:
        """``max_document_mb`` in bytes."""
        return int(self.max_document_mb * 1_000_000)


class TreeSettings(_Section):
    """What shapes retrieval trees, by default as in their papers; if a setting changes, trees are built again."""

    tau: int = Field(
        default=100,
        ge=0,
        description="DISRetrieval's tau: with a language model, a node gets a summary if its children have this many "
        "words together (its paper: 100 for QuALITY, 0 for QASPER).",
    )
    theme_group: int = Field(
        default=4,
        ge=1,
        description="HTSIR's r in text without sections: chunks that are summarised together (its paper: 2 to 5, best "
        "4).",
    )


class QuotaSettings(_Section):
    """Limits of each tenant of the HTTP API."""

    documents: int = Field(default=100_000, ge=0, description="Uploaded documents of a tenant.")
    storage_mb: float = Field(default=50_000.0, ge=0, description="Size of all uploaded files of a tenant.")
    jobs: int = Field(default=1_000, ge=0, description="Ingest jobs of a tenant that have not ended.")
    questions: int | None = Field(
        default=None,
        ge=1,
        description="Questions of a tenant that run at once; more wait. None: as many as the server has places for.",
    )
    waiting: int = Field(default=100, ge=0, description="Questions of a tenant that wait; more are refused with 429.")


class ApiSettings(_Section):
    """How the HTTP API serves."""

    host: str = Field(default="127.0.0.1", description="Address to listen on; without keys, a loopback address.")
    port: int = Field(default=8080, ge=1, le=65_535, description="Port to listen on.")
    hosts: tuple[str, ...] = Field(
        default=(), description="Names by which MCP clients reach the server, besides this machine's, as a JSON list."
    )
    keys: Path | None = Field(
        default=None, description="TOML file of API keys (disco-rag key makes them). None: no keys, one tenant."
    )
    published_locally: bool = Field(
        default=False,
        description="Only this machine reaches the port, whatever host says: that of a container, published on "
        "127.0.0.1. The server then works without keys.",
    )
    uploads: Path = Field(default=Path("uploads"), description="Folder of uploaded files, below home.")
    upload_mb: float = Field(default=100.0, gt=0, description="Largest request with files.")
    body_kb: float = Field(default=256.0, gt=0, description="Largest other request.")
    jobs: int = Field(
        default=2, ge=1, description="Uploaded files read at once; one more if its tenant has none in progress."
    )
    deadline_s: float = Field(default=120.0, gt=0, description="All requests end by then, if only with an error.")
    questions: int = Field(default=256, ge=1, description="Questions in progress or waiting; more are refused.")
    requests_per_minute: int = Field(default=600, ge=1, description="Requests per minute of one key.")
    quota: QuotaSettings = QuotaSettings()
    drain_s: int = Field(
        default=20,
        ge=0,
        description="On SIGTERM, seconds for requests in progress to end; the process exits ten seconds later at most.",
    )
    access_log: bool | None = Field(
        default=None, description="Log every request, and what it reads and changes. None: if there are keys."
    )
    log_text: bool = Field(default=False, description="Log the messages of errors, which may quote questions.")

    @property
    def url_host(self) -> str:
        """``host`` as part of a URL: an IPv6 address in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host


class Settings(BaseSettings):
    """The whole configuration, as one immutable value."""

    model_config = SettingsConfigDict(env_prefix="DISCO_RAG_", env_nested_delimiter="__", extra="forbid", frozen=True)

    home: Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())] = Field(
        default_factory=lambda: user_data_path("disco-rag", appauthor=False),
        description="Folder that holds everything stored; by default the user's data folder. In disco-rag.toml a "
        "relative path is below the file's folder.",
    )
    tenant: str = Field(default="default", min_length=1, description="Tenant, unless a call names one.")
    corpus: str = Field(default="default", min_length=1, description="Corpus, unless a command or call names one.")
    prompts_dir: Path | None = Field(
        default=None,
        description="Folder of your own prompt files, with the names, variables and output of the packaged ones, "
        "which are used for the rest.",
    )
    calibration: Path | None = Field(
        default=None,
        description="File of the calibration for another reranker than the packaged one: when to refuse, when to stop.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="A PostgreSQL database in place of a file: postgresql+psycopg://USER:PASSWORD@HOST/DATABASE.",
    )
    store: StoreSettings = Field(default=StoreSettings(), validate_default=True)
    encoder: EncoderSettings = EncoderSettings()
    parser: ParserSettings = ParserSettings()
    model: ModelName | None = Field(
        default=None,
        description="The language model: ollama:qwen3:8b, openai:gpt-5-mini, or http://localhost:8000/v1#name of an "
        "OpenAI-compatible server. None: no language model.",
    )
    models: ModelRoles = ModelRoles()
    llm: LlmSettings = Field(default=LlmSettings(), validate_default=True)
    reranker: RerankerSettings = RerankerSettings()
    nli: NliSettings = NliSettings()
    reading: ReadingSettings = ReadingSettings()
    trees: TreeSettings = TreeSettings()
    answer: dict[str, str | int | float | bool] = Field(
        default={},
        description="Options of questions that choose no preset or retriever themselves; disco-rag tune writes them.",
    )
    api: ApiSettings = Field(default=ApiSettings(), validate_default=True)

    @field_validator("store", "llm", "api")
    @classmethod
    def _below_home(cls, section: _S, info: ValidationInfo) -> _S:
        """Relative paths of what is stored become paths below `home`; the store also gets the database's URL."""
        home: Path = info.data.get("home", Path())
        paths = {name: getattr(section, name, None) for name in ("path", "cache", "uploads")}
        below: dict[str, Any] = {name: home / path for name, path in paths.items() if path is not None}
        if isinstance(section, StoreSettings):
            url = info.data.get("database_url")
            if section.database_url not in (None, url):
                raise ValueError("Name the database with DISCO_RAG_DATABASE_URL, not in the store's settings")
            below["database_url"] = url
        return section.model_copy(update=below)

    def llm_for(self, role: Role) -> LlmSettings:
        """The language model that plays a role; its ``provider`` is empty if none is configured."""
        llm = self.llm.named(self.model) if self.model else self.llm
        own = getattr(self.models, role)
        return llm.named(own) if own else llm

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
        return init_settings, env_settings, _TomlFile(settings_cls, config_file())


class _TomlFile(TomlConfigSettingsSource):
    """The settings file; ``home`` is relative to its folder."""

    def __call__(self) -> dict[str, Any]:
        found = super().__call__()
        home = found.get("home")
        return found | {"home": config_file().parent / Path(home).expanduser()} if isinstance(home, str) else found


def read_settings() -> Settings:
    """The settings of this process.

    Raises:
        ConfigError: A value is impossible, a name is unknown, or the settings file is no TOML.
    """
    known = {DATA_VARIABLE, *(f"DISCO_RAG_{name.upper()}" for name in Settings.model_fields)}
    unknown = [name for name in os.environ if name.startswith("DISCO_RAG_") and name.split("__")[0] not in known]
    if unknown:
        raise ConfigError(
            f"Unknown settings: {', '.join(sorted(unknown))}.", hint=f"Known settings: {', '.join(sorted(known))}."
        )
    hint = f"Check DISCO_RAG_* variables and {config_file()}."
    try:
        return Settings()
    except ValidationError as error:
        lines = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"Settings: {lines}.", hint=hint) from error
    except (SettingsError, ValueError, OSError) as error:  # ValueError: broken TOML, bytes that are not UTF-8
        raise ConfigError(f"Settings cannot be read: {error}.", hint=hint) from error


def config_file() -> Path:
    """The nearest settings file; it need not exist."""
    here = Path.cwd()
    return next((f for folder in (here, *here.parents) if (f := folder / CONFIG_FILE).exists()), here / CONFIG_FILE)
