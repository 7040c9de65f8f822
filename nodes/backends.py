"""What a run needs from the outside world: settings, store, encoder, language model. Opened once, shared."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from anyio.from_thread import start_blocking_portal
from pydantic import ValidationError

from discorag.config import HOW_TO_NAME_A_MODEL, LlmSettings, Role, Settings, read_settings
from discorag.discourse.parse.parser import PARSERS, PROMPTED, Limits, UnitParser
from discorag.generation.calibration import Calibration, find_calibration
from discorag.generation.prompted.paper import PaperTemplates
from discorag.generation.selection import Selector
from discorag.ingest.reader import Reader
from discorag.models.encoder import encoder_from
from discorag.models.memo import MemoEncoder
from discorag.models.protocol import Encoder, LanguageModel, Template, TreeParser
from discorag.models.reranker import RERANKERS, Reranker, reranker_from
from discorag.retrieval.registry import TreeTools
from discorag.schema.answer import JudgeName
from discorag.schema.errors import ConfigError, ModelError
from discorag.store.store import Store, open_store
from discorag.verification.judges import verifier_of
from discorag.verification.tracing import Verifier
from prompts import PromptError, check, load, names

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def paper_templates(folder: Path | None = None) -> PaperTemplates:
    """The prompts of Disco-RAG as printed, and of its baselines; a user's own folder comes first."""
    files = {f.name: load("paper-" + f.name.replace("_", "-"), folder) for f in fields(PaperTemplates)}
    return PaperTemplates(**files)


class Backends:
    """Opened resources. Close them, or use them as a context manager.

    ``encoder`` remembers what it has encoded; ``bare_encoder`` is the same without a memory, to be timed. All prompts
    are read when an instance is made, so that no step of a graph reads a file.

    ``encodes_sentences``: whether an ingest that makes no trees stores the vectors of sentences for questions.
    """

    encodes_sentences = True

    def __init__(self, settings: Settings, store: Store, encoder: Encoder, model: LanguageModel | None) -> None:
        self.settings = settings
        self.store = store
        self.encoder = MemoEncoder(encoder)
        self.bare_encoder = encoder
        self.model = model
        self.reader = Reader(settings.reading)
        self.paper_templates = paper_templates(settings.prompts_dir)
        self._templates = {name: load(name, settings.prompts_dir) for name in names()}
        self._parsers: dict[str, TreeParser] = {}
        self._models: dict[LlmSettings, LanguageModel | None] = {}
        self._making = RLock()  # the factory of a part may ask for another part

    @classmethod
    def open(cls, settings: Settings | None = None, *, llm: str | BaseChatModel | None = None) -> Backends:
        """Open what the settings name; by default they come from the environment and ``disco-rag.toml``. Blocks while
        it reads files.

        ``llm`` replaces the configured model: a name as in DISCO_RAG_MODEL, or a chat model of LangChain. Raises
        `ConfigError`, `StoreError`, `ModelError`.
        """
        settings = settings or read_settings()
        if isinstance(llm, str):
            settings, llm = name_model(settings, llm), None
        model = configured_model(settings) if llm is None else _gateway_over(llm, settings.llm)
        PARSERS.check(settings.parser.kind)
        RERANKERS.check(settings.reranker.kind, also=("auto",))
        _check_prompts(settings)
        with start_blocking_portal() as portal:  # works inside a running event loop too
            encoder = portal.call(encoder_from, settings)
        store = open_store(settings.store, (encoder.version, encoder.dimension))
        return cls(settings, store, encoder, model)

    def model_for(self, role: Role) -> LanguageModel | None:
        """The language model that plays a role, None if none is configured; ``model`` is the reader."""
        settings = self.settings.llm_for(role)
        if settings == self.settings.llm_for("reader"):
            return self.model
        with self._making:
            if settings not in self._models:
                self._models[settings] = configured_model(self.settings, role)
            return self._models[settings]

    def require_model(self, role: Role = "reader") -> LanguageModel:
        """The language model that plays a role. Raises `ConfigError` if none is configured."""
        model = self.model_for(role)
        if model is None:
            raise ConfigError(
                "An option needs a language model, but no language model is configured.",
                hint=f"{HOW_TO_NAME_A_MODEL} Or choose the local engine.",
            )
        return model

    async def context_tokens(self) -> int:
        """The reader's context; as configured while its server does not answer."""
        try:
            return await self.require_model().context_tokens()
        except ModelError:
            return self.settings.llm.context_tokens

    def template(self, name: str) -> Template:
        """The prompt file of this name: the user's own, or ours."""
        return self._templates[name]

    def parser_name(self, option: str) -> str:
        """The parser that an option means: for ``auto`` the configured one."""
        return self.settings.parser.kind if option == "auto" else option

    def parser(self, name: str, limits: Limits | None = None) -> TreeParser:
        """The parser of this name: created for each call if it calls a language model, once if it may hold one. Blocks
        while it is loaded.

        Raises:
            UnknownNameError: There is none; the error lists those that there are.
            ConfigError: It asks a language model, and none is configured.
        """
        if name == PROMPTED:
            return PARSERS[name](self, limits or Limits())
        with self._making:
            if name not in self._parsers:
                self._parsers[name] = PARSERS[name](self, Limits())
            return self._parsers[name]

    def tree_tools(self, parser: str) -> TreeTools:
        """The models and the parser for builders. If the configured parser reads only chunks, ``local`` reads sentences
        and paragraphs. Blocks while a parser is loaded.
        """
        chosen = self.parser("local" if parser == PROMPTED else parser)
        units = chosen if isinstance(chosen, UnitParser) else self.parser("local")
        assert isinstance(units, UnitParser)
        return TreeTools(self, units)

    def load_reranker(self) -> None:
        """Load what `reranker`, `calibration` and `selector` read from files at their first use. Blocks."""
        _ = self.selector  # it reads the other two

    @cached_property
    def calibration(self) -> Calibration | ConfigError:
        """The calibration of the reranker, or the error that says why it has none."""
        try:
            return find_calibration(self.reranker.version, self.settings.calibration)
        except ConfigError as error:
            return error

    @cached_property
    def selector(self) -> Selector:
        """Ranks and selects sentences; without a calibration where none belongs to the configured reranker."""
        known = self.calibration
        return Selector(self.encoder, self.reranker, known if isinstance(known, Calibration) else None)

    def verifier(self, judge: JudgeName) -> Verifier:
        """What checks drafts, with this judge. Raises as `verifier_of`."""
        return verifier_of(self, judge)

    @property
    def reranker(self) -> Reranker:
        """The configured reranker, the same for all questions."""
        return self._reranker  # protocols accept no cached property

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
        hint = "Repair the file or remove it; the packaged prompt is used then. DISCO_RAG_PROMPTS_DIR names the folder."
        raise ConfigError(str(error), hint=hint) from error


def name_model(settings: Settings, name: str) -> Settings:
    """The settings with another reader, which also plays all roles without a model. Raises `ConfigError`."""
    roles = settings.models.model_copy(update={"reader": None})
    try:
        return Settings.model_validate(dict(settings) | {"model": name, "models": roles})
    except ValidationError as error:
        how = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise ConfigError(f"The language model {name!r} cannot be used.", hint=f"{how}.") from error


def configured_model(settings: Settings, role: Role = "reader") -> LanguageModel | None:
    """The language model that plays a role, None if none is configured."""
    llm = settings.llm_for(role)
    if not llm.provider:
        return None
    from discorag.models.gateway import Gateway  # takes most of a second

    return Gateway(llm)


def _gateway_over(model: BaseChatModel, settings: LlmSettings) -> LanguageModel:
    """The gateway over a chat model of LangChain: replies are checked, repaired once, counted, cached."""
    from discorag.models.chat import ChatClient
    from discorag.models.gateway import Gateway
    from discorag.models.providers import own_model

    name = str(getattr(model, "model_name", None) or getattr(model, "model", None) or type(model).__name__)
    named = settings.model_copy(update={"model": name, "base_url": None})
    return Gateway(named, chat=ChatClient(named, own_model(model, settings.context_tokens)))
