"""What a run needs in addition to its state: its options (in Studio, an assistant's configuration) and its backends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from langgraph.runtime import Runtime
from pydantic import Field, PrivateAttr
from pydantic.json_schema import SkipJsonSchema

from discorag.discourse.parse.parser import PROMPTED
from discorag.generation.prompted.engine import MOST_ANSWER, LlmEngine, Sampling, readable_chunks
from discorag.generation.prompted.paper import PaperEngine
from discorag.options import PRESETS, AnswerOptions, IngestOptions, Options
from discorag.schema.answer import AnswerInputs, Known
from discorag.schema.document import Chunk, Scope
from nodes.backends import Backends, paper_templates, templates
from nodes.given import as_options, check_format, resumed_options
from nodes.state import AnswerState

PROMPT_TOKENS = 2048
"""Tokens left for the prompt around the evidence."""


class _Scoped(Options):
    tenant: str | None = Field(default=None, min_length=1, description="Owner of the documents. None: as configured.")
    corpus: str | None = Field(default=None, min_length=1, description="Named set of documents. None: as configured.")
    backends: SkipJsonSchema[Backends | None] = Field(default=None, exclude=True, repr=False)

    async def open_backends(self) -> Backends:
        """The backends handed in, else the process's own, opened from the settings at first use."""
        return self.backends or await default_backends()

    async def scope(self) -> Scope:
        """Tenant and corpus of this run."""
        settings = (await self.open_backends()).settings
        return Scope(tenant=self.tenant or settings.tenant, corpus=self.corpus or settings.corpus)


@dataclass
class EvidenceCache:
    """The chunks of a run as its stages see them, best first, and what the stages computed of them (`AnswerInputs`).

    ``key`` is the part of the state that they depend on; ``found`` has the stored chunks that the search has read.
    """

    key: Any = None
    chunks: tuple[Chunk, ...] = ()
    known: Known = field(default_factory=Known)
    found: Mapping[str, Chunk] = field(default_factory=dict[str, Chunk])


class AnswerContext(AnswerOptions, _Scoped):
    """Options of the answer graph, whose documents it answers from, and with which backends."""

    review: bool = Field(
        default=False,
        description="Stop before the answer is written and show the plan with its passages; the run is resumed with "
        "the plan, edited or as it is. The graph needs a checkpointer.",
    )

    _cache: EvidenceCache = PrivateAttr(default_factory=EvidenceCache)
    _in_profile: AnswerContext | None = PrivateAttr(default=None)
    _without_model: AnswerContext | None = PrivateAttr(default=None)

    @property
    def cache(self) -> EvidenceCache:
        """The evidence that was read last with these options."""
        return self._cache

    def set_cache(self, new: EvidenceCache) -> None:
        """Store what was read."""
        self._cache = new

    async def in_profile(self) -> AnswerContext:
        """These options with those of their profile. All nodes get the same object, which holds the evidence."""
        if self._in_profile is None:
            has_model = (await self.open_backends()).model is not None
            self._in_profile = self.with_profile(has_model=has_model)
        return self._in_profile

    @property
    def is_written(self) -> bool:
        """Whether a language model relates, plans or writes."""
        return self.profile == "written" or "llm" in (self.relater, self.planner)

    def without_model(self) -> AnswerContext:
        """These options as they are if no language model is configured; what needs one gets its default."""
        if self._without_model is None:
            needs_model = self.preset in ("paper", "rdr2")
            of_preset = PRESETS[self.preset] if needs_model else {}
            given = {name: getattr(self, name) for name in self.model_fields_set}
            kept = {name: value for name, value in given.items() if of_preset.get(name) != value}
            for name in ("profile", "relater", "planner", "generator", "refine", *(["preset"] * needs_model)):
                kept.pop(name, None)
            for name, prompted in (("verifier", "llm"), ("parser", PROMPTED)):
                if kept.get(name) == prompted:
                    del kept[name]
            self._without_model = AnswerContext(**kept).with_profile(has_model=False)
        return self._without_model

    async def readable(self, inputs: AnswerInputs) -> int:
        """How many of the chunks fit into the context of the language model that will read them in our conversation."""
        if self.profile == "verbatim" or self.preset == "paper" or self.retriever == "all":
            return len(inputs.chunks)
        backends = await self.open_backends()
        return await asyncio.to_thread(
            readable_chunks,
            inputs,
            templates(backends.settings.prompts_dir),
            self.sampling,
            context_tokens=await backends.context_tokens(),
            counter=backends.encoder.tokens,
        )

    async def room(self, backends: Backends) -> int | None:
        """The most tokens of evidence that fit into the language model's context; None if no model reads it."""
        if self.profile == "verbatim" or backends.model is None:
            return None
        return await backends.context_tokens() - (self.answer_tokens or MOST_ANSWER) - PROMPT_TOKENS

    async def llm(self, choice: str, stage: str = "generate") -> LlmEngine | PaperEngine | None:
        """The prompted engine if the option's value asks for it; None means the local engine.

        ``auto`` does not ask a model that cannot do this stage (``relate``, ``plan``, ``generate``). Raises
        `ConfigError` for ``llm`` where no language model is configured.
        """
        backends = await self.open_backends()
        if choice not in ("auto", "llm") or (choice == "auto" and backends.model is None):
            return None
        if self.preset == "paper":
            return self.paper_engine(backends)
        ability = await backends.ability(self.layout)
        if choice == "auto" and not ability.makes(stage):
            return None
        prompts = templates(backends.settings.prompts_dir)
        return LlmEngine(backends.require_model(), prompts, self.sampling, ability.layout, backends.prober.owed())

    def paper_engine(self, backends: Backends) -> PaperEngine:
        """The engine of Disco-RAG as printed. Raises `ConfigError` if no language model is configured."""
        return PaperEngine(backends.require_model(), paper_templates(backends.settings.prompts_dir), self.sampling)

    @property
    def sampling(self) -> Sampling:
        """Parameters of a language model's calls when it writes."""
        return Sampling(temperature=self.temperature, beam_width=self.beam_width, answer_tokens=self.answer_tokens)


class IngestContext(IngestOptions, _Scoped):
    """Options of the ingest graph, whose documents it reads, and with which backends."""


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
    """The options that the caller gave: now, or when the run that is resumed was started; else the defaults.

    Raises:
        ConfigError, InputError: See `nodes.given`.
    """
    check_format(state)
    return as_options(AnswerContext, runtime.context) or resumed_options(AnswerContext, state) or _defaults()


async def answer_context(state: AnswerState, runtime: Runtime[AnswerContext]) -> AnswerContext:
    """The run's options, its profile decided. After the language model has failed, they are those of a run without one.

    Raises as `given_context`.
    """
    options = given_context(state, runtime)
    return options.without_model() if state.get("model_failed") else await options.in_profile()


@cache
def _defaults() -> AnswerContext:
    return AnswerContext()


def ingest_context(runtime: Runtime[IngestContext]) -> IngestContext:
    """The run's options; the defaults when the caller gave none. Raises as `nodes.given.as_options`."""
    return as_options(IngestContext, runtime.context) or IngestContext()
