"""What a run needs in addition to its state: its options (in Studio, an assistant's configuration) and its backends.

A context holds what the caller set. Nodes get complete options from `answer_context`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from langgraph.runtime import Runtime
from pydantic import Field, PrivateAttr, ValidationError
from pydantic.json_schema import SkipJsonSchema

from discorag.answering.reader import ReaderModel, StatementPart
from discorag.generation.prompted.paper import PaperEngine
from discorag.generation.prompted.prose import Sampling
from discorag.options import (
    PRESETS,
    AnswerOptions,
    IngestOptions,
    Options,
    Resolved,
    explain_refusal,
    resolve,
    without_model,
)
from discorag.schema.answer import Known
from discorag.schema.document import Chunk, Scope
from nodes.backends import Backends
from nodes.given import as_options, check_format, resumed_options
from nodes.state import AnswerState


class _Scoped(Options):
    tenant: str | None = Field(default=None, min_length=1, description="Owner of the documents. None: as configured.")
    corpus: str | None = Field(default=None, min_length=1, description="Named set of documents. None: as configured.")
    backends: SkipJsonSchema[Backends | None] = Field(default=None, exclude=True, repr=False)

    def __init__(self, **given: Any) -> None:
        """Raises `InputError` for an option that is unknown or has an impossible value; LangGraph's server shows it."""
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise explain_refusal(error) from error

    async def open_backends(self) -> Backends:
        """The backends handed in, else the process's own, opened from the settings at first use."""
        return self.backends or await default_backends()

    async def scope(self) -> Scope:
        """Tenant and corpus of this run."""
        settings = (await self.open_backends()).settings
        return Scope(tenant=self.tenant or settings.tenant, corpus=self.corpus or settings.corpus)


@dataclass
class EvidenceCache:
    """The chunks of a run as its stages see them, in order, and what the stages computed of them (`AnswerInputs`).

    ``key`` is the part of the state that they depend on; ``found`` has the stored chunks that the search has read.
    """

    key: Any = None
    chunks: tuple[Chunk, ...] = ()
    known: Known = field(default_factory=Known)
    found: Mapping[str, Chunk] = field(default_factory=dict[str, Chunk])


class AnswerContext(AnswerOptions, _Scoped):
    """Options of the answer graph that the caller set, whose documents it answers from, and with which backends."""

    review: bool = Field(
        default=False,
        description="Stop before the answer is written and show the plan with its passages; the run is resumed with "
        "the plan, edited or as it is. The graph needs a checkpointer.",
    )

    _cache: EvidenceCache = PrivateAttr(default_factory=EvidenceCache)
    _resolved: dict[bool, AnswerContext] = PrivateAttr(default_factory=dict[bool, "AnswerContext"])

    @property
    def cache(self) -> EvidenceCache:
        """The evidence that was read last with these options."""
        return self._cache

    def set_cache(self, new: EvidenceCache) -> None:
        """Store what was read."""
        self._cache = new

    async def resolved(self, *, model_failed: bool = False) -> AnswerContext:
        """The complete options of the run. All nodes get the same object, which holds the evidence.

        Raises as `explain`. ``model_failed``: choose as if there was no language model.
        """
        if model_failed not in self._resolved:
            backends = await self.open_backends()
            await asyncio.to_thread(backends.load_reranker)
            options = self.explain(backends, model_failed=model_failed).options
            self._resolved[model_failed] = self.model_copy(update=dict(options))
        return self._resolved[model_failed]

    def explain(self, backends: Backends, *, model_failed: bool = False) -> Resolved:
        """The complete options of a run with these backends, and where each value comes from.

        Raises:
            InputError: Options contradict each other, or the settings hold an impossible one.
            ConfigError: An option needs a language model, and none is configured.
        """
        given = {name: getattr(self, name) for name in self.model_fields_set & AnswerOptions.model_fields.keys()}
        settings = backends.settings.answer
        if model_failed:
            return without_model(given, settings)
        return resolve(given, settings, has_model=backends.model is not None)

    async def room(self, backends: Backends) -> int | None:
        """The tokens of the language model's context, which bound all that it can read; None if no model reads."""
        return await backends.context_tokens() if self.is_written and backends.model else None

    @property
    def is_as_printed(self) -> bool:
        """Whether a language model relates, plans and writes as Disco-RAG is printed."""
        return self.is_written and self.preset == "paper"

    @property
    def has_statements(self) -> bool:
        """Whether a language model plans the answer over statements with quotations."""
        return self.is_written and not self.is_as_printed and (self.use_graph or self.use_plan)

    @property
    def may_answer_at_once(self) -> bool:
        """Whether the call that finds statements, with relations and plan if they are on, may also write the answer."""
        return self.has_statements and not self.review

    def reader(self, backends: Backends) -> ReaderModel:
        """The language model that reads the passages. Raises `ConfigError` if none is configured."""
        parts: tuple[tuple[StatementPart, bool], ...] = (("relations", self.use_graph), ("order", self.use_plan))
        return ReaderModel(
            model=backends.require_model(),
            counter=backends.encoder.tokens,
            folder=backends.settings.prompts_dir,
            temperature=self.temperature,
            beam_width=self.beam_width,
            answer_tokens=self.answer_tokens,
            structure=tuple(part for part, is_on in parts if is_on),
        )

    def paper_engine(self, backends: Backends) -> PaperEngine:
        """The engine of Disco-RAG as printed. Raises `ConfigError` if no language model is configured."""
        return PaperEngine(backends.require_model(), backends.paper_templates, self.sampling, self.graph_query)

    @property
    def sampling(self) -> Sampling:
        """Parameters of a language model's calls when it writes."""
        return Sampling(temperature=self.temperature, beam_width=self.beam_width, answer_tokens=self.answer_tokens)


class BaselineContext(AnswerContext):
    """Options of a baseline of Disco-RAG: what the caller leaves open is as in ``preset=paper``."""

    def __init__(self, **given: Any) -> None:
        """Raises as `AnswerContext`."""
        as_printed: dict[str, Any] = {"rerank": False}
        as_printed |= {name: PRESETS["paper"][name] for name in ("retriever", "top_k", "beam_width", "abstain")}
        super().__init__(**as_printed | given)


class WholeContext(BaselineContext):
    """Options of the baseline that reads every document."""

    def __init__(self, **given: Any) -> None:
        """Raises as `AnswerContext`."""
        super().__init__(**{"retriever": "all", **given})


class IngestContext(IngestOptions, _Scoped):
    """Options of the ingest graph, whose documents it reads, and with which backends.

    ``uri``: the uri of the document, if it is not the path of the one file that is read.
    """

    uri: SkipJsonSchema[str] = Field(default="", exclude=True, repr=False)


_opening = threading.Lock()


@cache
def _opened() -> Backends:
    return Backends.open()


def _open_once() -> Backends:
    with _opening:
        return _opened()


async def default_backends() -> Backends:
    """The process's backends, opened once from the settings, in a thread (opening reads files)."""
    return await asyncio.to_thread(_open_once)


def given_context(state: AnswerState, runtime: Runtime[AnswerContext]) -> AnswerContext:
    """The options that the caller set: now, or when the run that is resumed was started; else none, for all runs alike.

    Raises:
        ConfigError, InputError: See `nodes.given`.
    """
    check_format(state)
    return as_options(AnswerContext, runtime.context) or resumed_options(AnswerContext, state) or _defaults()


async def answer_context(state: AnswerState, runtime: Runtime[AnswerContext]) -> AnswerContext:
    """The run's complete options; where the caller set none, those of the settings.

    After the language model has failed (``model_failed`` in the state) they are the options without one. Raises as
    `given_context` and `AnswerContext.resolved`.
    """
    return await given_context(state, runtime).resolved(model_failed=bool(state.get("model_failed")))


@cache
def _defaults() -> AnswerContext:
    return AnswerContext()


def ingest_context(runtime: Runtime[IngestContext]) -> IngestContext:
    """The run's options; the defaults when the caller gave none. Raises as `nodes.given.as_options`."""
    return as_options(IngestContext, runtime.context) or IngestContext()
