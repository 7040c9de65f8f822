"""What a run needs of the outside world: settings, store, encoder, language model; opened once, shared by all runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from typing import Any

from anyio.from_thread import start_blocking_portal

from discorag.ingest.survey import Workbench
from discorag.models.embedded import EmbeddedGateway
from discorag.models.encoder import PackagedEncoder, encoder_from
from discorag.models.gateway import gateway_from
from discorag.models.memo import MemoEncoder
from discorag.models.offline import OfflineModel
from discorag.models.protocol import Encoder, LanguageModel
from discorag.models.reranker import MaxSimReranker, Reranker, RerankerEndpoint, ServerReranker
from discorag.models.sentence_encoder import load_named
from discorag.rst.as_printed import PaperParser
from discorag.rst.parser import TreeParser
from discorag.rst.prompted import LlmParser
from discorag.rst.rules import RightBranchingParser, RuleParser
from discorag.rst.trained.parser import TrainedParser
from discorag.settings import LlmSettings, Settings, read_settings
from discorag.store.open import open_store
from discorag.store.protocol import Store
from discorag.types.errors import ConfigError
from discorag.types.recent import Recent
from discorag.types.rst_tree import RstTree
from prompts import load

PARSES = 20_000
"""Parses that are remembered: some kilobytes each."""
_PLAIN: dict[str, Callable[[], TreeParser]] = {"rules": RuleParser, "right-branching": RightBranchingParser}


class Resources:
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
        self.workbench = Workbench()
        self.parses = Recent[RstTree](PARSES)
        self._parsers: dict[str, TrainedParser] = {}

    @classmethod
    def open(cls, settings: Settings | None = None) -> Resources:
        """Open what the settings name; blocks while it reads files.

        Raises:
            ConfigError, StoreLockedError, EncoderMismatchError, ModelError: As their classes say.
        """
        settings = settings or read_settings()
        if settings.llm.kind == "endpoint":
            return cls._opened(settings, gateway_from(settings))
        with ExitStack() as undo:
            model, llm = _local_model(settings.llm)  # before the encoder, which loads torch: see the modules
            undo.callback(model.stop)
            opened = cls._opened(settings.model_copy(update={"llm": llm}), model)
            undo.pop_all()
        return opened

    @classmethod
    def _opened(cls, settings: Settings, model: LanguageModel | None) -> Resources:
        with start_blocking_portal() as portal:  # works inside a running event loop too
            encoder = portal.call(encoder_from, settings)
        store = open_store(settings.store, dimension=encoder.dimension, encoder_version=encoder.version)
        return cls(settings, store, encoder, model)

    def require_model(self) -> LanguageModel:
        """The language model. Raises `ConfigError` if no endpoint is configured."""
        if self.model is None:
            raise ConfigError(
                "The llm engine was asked for, but no endpoint is configured.",
                hint="Set DISCO_RAG_LLM__BASE_URL (and DISCO_RAG_LLM__MODEL), or choose the local engine.",
            )
        return self.model

    def parser(
        self, engine: str, *, temperature: float = 0.0, max_tokens: int = 2048, beam_width: int = 3
    ) -> TreeParser:
        """The tree parser of an engine as `nodes.context.IngestContext` names them; of other names the fast one."""
        if engine == "llm":
            return LlmParser(self.require_model(), load("tree"), max_tokens=max_tokens, temperature=temperature)
        if engine == "paper":
            limits = {"max_tokens": max_tokens, "beam_width": beam_width}
            return PaperParser(self.require_model(), load("paper-tree"), temperature=temperature, **limits)
        if engine in _PLAIN:
            return _PLAIN[engine]()
        return self.trained("accurate" if engine == "accurate" else "fast")

    def trained(self, tier: str) -> TrainedParser:
        """A tier of the trained parser, over the encoder that is loaded already or that the settings name."""
        if tier not in self._parsers:
            self._parsers[tier] = TrainedParser(tier, transformer=self._transformer(tier))
        return self._parsers[tier]

    def _transformer(self, tier: str) -> Callable[[], Any] | None:
        """What gives a tier its encoder; None: its own, from packages."""
        name, bare = self.settings.parser.encoder, self.bare_encoder
        if tier == "accurate" and name:
            return lambda: load_named(name)[0]
        return bare.transformer if tier == "fast" and isinstance(bare, PackagedEncoder) else None

    @cached_property
    def reranker(self) -> Reranker:
        """The configured endpoint, else late interaction over the packaged encoder; one for all questions."""
        s = self.settings.reranker
        if s.base_url:
            return ServerReranker(RerankerEndpoint(s.base_url, s.model, s.api_key, s.path, timeout_s=s.timeout_s))
        bare = self.bare_encoder
        return MaxSimReranker(bare if isinstance(bare, PackagedEncoder) else PackagedEncoder())

    def close(self) -> None:
        """Stop the language model if it is in this process, and release the store."""
        if isinstance(self.model, EmbeddedGateway | OfflineModel):
            self.model.stop()
        self.store.close()

    def __enter__(self) -> Resources:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _local_model(llm: LlmSettings) -> tuple[EmbeddedGateway | OfflineModel, LlmSettings]:
    """A model in this process, and the settings that describe it."""
    if llm.kind == "offline":
        return OfflineModel(llm, **llm.engine), llm
    model = EmbeddedGateway(llm)
    return model, model.settings
