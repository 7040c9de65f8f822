"""What a run needs of the outside world: settings, store, encoder, language model; opened once, shared by all runs."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Literal

from anyio.from_thread import start_blocking_portal

from discorag.config import Settings, read_settings
from discorag.discourse.parse.inline import Layout
from discorag.discourse.parse.parser import PARSERS, PROMPTED, Limits, TreeParser, UnitParser
from discorag.generation.calibration import find_calibration
from discorag.generation.prompted.probe import Ability, Prober
from discorag.generation.selection import Selector
from discorag.ingest.reader import Reader
from discorag.models.encoder import encoder_from
from discorag.models.hub import lock_path, use_lock
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder, LanguageModel, Template
from discorag.models.reranker import RERANKERS, Reranker, reranker_from
from discorag.retrieval.registry import TreeTools
from discorag.schema.discourse import RstTree
from discorag.schema.errors import ConfigError
from discorag.store.recent import Recent
from discorag.store.store import Store, open_store
from nodes.templates import templates
from prompts import PromptError, check, load

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

PARSES = 20_000
"""Parses that are remembered: some kilobytes each."""


class Backends:
    """Opened resources. Close them, or use them as a context manager.

    ``encoder`` remembers what it has encoded; ``bare_encoder`` is the same without a memory, to be timed. ``parses``
    remembers the last trees that builders asked for, by their texts.
    """

    def __init__(self, settings: Settings, store: Store, encoder: Encoder, model: LanguageModel | None) -> None:
        self.settings = settings
        self.store = store
        self.encoder = MemoEncoder(encoder)
        self.bare_encoder = encoder
        self.model = model
        self.reader = Reader(settings.reading, store.conversions)
        self.parses = Recent[RstTree](PARSES)
        self._parsers: dict[str, TreeParser] = {}
        self._making = Lock()

    @classmethod
    def open(
        cls,
        settings: Settings | None = None,
        *,
        llm: BaseChatModel | None = None,
        embeddings: Embeddings | None = None,
    ) -> Backends:
        """Open what the settings name; blocks while it reads files.

        Args:
            settings: Default: environment and ``disco-rag.toml``.
            llm: LangChain's chat model in the place of the configured one.
            embeddings: LangChain's embeddings in the place of the configured encoder.

        Raises:
            ConfigError, StoreError, ModelError: As their classes say.
        """
        settings = settings or read_settings()
        if llm is not None:
            from nodes.langchain_adapters import language_model

            return cls._opened(settings, language_model(llm, settings.llm), embeddings)
        return cls._opened(settings, _served_model(settings), embeddings)

    @classmethod
    def _opened(cls, settings: Settings, model: LanguageModel | None, embeddings: Embeddings | None) -> Backends:
        use_lock(lock_path(settings))
        PARSERS.check(settings.parser.kind)
        RERANKERS.check(settings.reranker.kind, also=("auto",))
        _check_prompts(settings)
        with start_blocking_portal() as portal:  # works inside a running event loop too
            encoder = portal.call(_encoder, settings, embeddings)
        store = open_store(settings.store, (encoder.version, encoder.dimension))
        return cls(settings, store, encoder, model)

    def require_model(self) -> LanguageModel:
        """The language model. Raises `ConfigError` if no endpoint is configured."""
        if self.model is None:
            raise ConfigError(
                "The llm engine was asked for, but no endpoint is configured.",
                hint="Set DISCO_RAG_LLM__BASE_URL (and DISCO_RAG_LLM__MODEL), or choose the local engine.",
            )
        return self.model

    def template(self, name: str) -> Template:
        """The prompt file of this name: the user's own, or ours."""
        return load(name, self.settings.prompts_dir)

    def parser(self, name: str, limits: Limits | None = None) -> TreeParser:
        """The parser of this name. One that asks a language model is made anew, others once: they may hold a model.

        Raises:
            UnknownNameError: There is none; the error lists those that there are.
            ConfigError: It asks a language model, and none is configured.
        """
        if name in PROMPTED:
            return PARSERS[name](self, limits or Limits())
        with self._making:
            if name not in self._parsers:
                self._parsers[name] = PARSERS[name](self, Limits())
            return self._parsers[name]

    def tree_tools(self, parser: str) -> TreeTools:
        """What builders are made of; a parser that only reads chunks leaves sentences and paragraphs to ``local``."""
        chosen = self.parser("local" if parser in PROMPTED else parser)
        units = chosen if isinstance(chosen, UnitParser) else self.parser("local")
        assert isinstance(units, UnitParser)
        return TreeTools(self, units, self.parses)

    @cached_property
    def prober(self) -> Prober:
        """Finds out what the language model can do. Raises as `require_model`."""
        return Prober(self.require_model(), templates(self.settings.prompts_dir), self.template("probe"))

    async def ability(self, layout: Literal["auto"] | Layout = "auto") -> Ability:
        """What the language model can do, and how it is shown trees: as asked, as configured, or as it can read."""
        wanted = self.settings.llm.layout if layout == "auto" else layout
        return await self.prober.ability() if wanted == "auto" else Ability(chosen=wanted)

    @cached_property
    def selector(self) -> Selector:
        """Ranks and selects sentences; without a calibration where none belongs to the configured models."""
        try:
            calibration = find_calibration(self.reranker.version, self.settings.calibration)
        except ConfigError:
            calibration = None  # `assess` reports it
        return Selector(self.encoder, self.reranker, calibration)

    @property
    def reranker(self) -> Reranker:
        """The configured one, for all questions."""
        return self._reranker

    @cached_property
    def _reranker(self) -> Reranker:
        return reranker_from(self.settings.reranker)

    def close(self) -> None:
        """Release the reader's processes and the store."""
        self.reader.close()
        self.store.close()

    def __enter__(self) -> Backends:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_prompts(settings: Settings) -> None:
    if settings.prompts_dir is None:
        return
    try:
        check(settings.prompts_dir)
    except PromptError as error:
        hint = "Mend the file, or leave it out: ours is used then. DISCO_RAG_PROMPTS_DIR names the folder."
        raise ConfigError(str(error), hint=hint) from error


async def _encoder(settings: Settings, embeddings: Embeddings | None) -> Encoder:
    if embeddings is None:
        return await encoder_from(settings)
    from nodes.langchain_adapters import LangChainEncoder

    return await LangChainEncoder.of(embeddings)


def _served_model(settings: Settings) -> LanguageModel | None:
    """The endpoint's model, None if none is configured: its client takes most of a second to import."""
    if not settings.llm.base_url:
        return None
    from discorag.models.gateway import gateway_from

    return gateway_from(settings)
