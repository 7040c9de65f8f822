"""What a run knows beside its state: its switches (in Studio, an assistant's configuration) and its parts."""

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

from discorag.prompted.as_printed import PaperEngine
from discorag.prompted.engine import LlmEngine, Sampling
from discorag.prompted.limits import MOST_ANSWER
from discorag.rst.parser import Limits
from discorag.types.case import Known
from discorag.types.chunk import Chunk
from discorag.types.document import Scope
from nodes.resources import Resources
from nodes.switches import AnswerSwitches, IngestSwitches, Switches
from nodes.templates import paper_templates, templates

PROMPT_TOKENS = 2048
"""Tokens left for the prompt around the evidence."""


class _Scoped(Switches):
    tenant: str | None = Field(default=None, min_length=1, description="Owner of the documents. None: as configured.")
    corpus: str | None = Field(default=None, min_length=1, description="Named set of documents. None: as configured.")
    resources: SkipJsonSchema[Resources | None] = Field(default=None, exclude=True, repr=False)

    async def deps(self) -> Resources:
        """The resources handed in, else the process's own, opened from the settings at first use."""
        return self.resources or await default_resources()

    async def scope(self) -> Scope:
        """Tenant and corpus of this run."""
        settings = (await self.deps()).settings
        return Scope(tenant=self.tenant or settings.tenant, corpus=self.corpus or settings.corpus)


@dataclass
class Reading:
    """The chunks of a run as its stages see them, and what the stages computed of them.

    Args:
        told: The part of the state that says which chunks, and what of them.
        chunks: Best first.
        known: See `discorag.types.case.Case`.
        found: Chunks as they are stored, by id, that the search has read already.
    """

    told: Any = None
    chunks: tuple[Chunk, ...] = ()
    known: Known = field(default_factory=Known)
    found: Mapping[str, Chunk] = field(default_factory=dict[str, Chunk])


class AnswerContext(AnswerSwitches, _Scoped):
    """Switches of the answer graph, whose documents it answers from, and with which resources."""

    _reading: Reading = PrivateAttr(default_factory=Reading)

    @property
    def reading(self) -> Reading:
        """What was read last with these switches: in this run, where it has a context of its own."""
        return self._reading

    def read(self, new: Reading) -> None:
        """Keep what was read."""
        self._reading = new

    @property
    def structured(self) -> bool:
        """False when everything is off: standard RAG."""
        return self.use_tree or self.use_graph or self.use_plan

    def room(self, deps: Resources) -> int | None:
        """Tokens of evidence that fit the language model's context; None if none will read it."""
        if self.generator == "local" or deps.model is None:
            return None
        return deps.settings.llm.context_tokens - (self.answer_tokens or MOST_ANSWER) - PROMPT_TOKENS

    def tree_engine(self, deps: Resources) -> str:
        """Whose trees a chunk gets that lacks one."""
        if self.preset == "paper" and self.parser == "llm":
            return "paper"
        return _parser(self.parser, deps)

    @property
    def limits(self) -> Limits:
        """How a language model that parses is asked."""
        return Limits(self.temperature, self.tree_tokens, self.beam_width)

    async def llm(self, choice: str, stage: str = "generate") -> LlmEngine | PaperEngine | None:
        """The prompted engine if ``choice`` asks for it; None means the local engine.

        Args:
            choice: The switch.
            stage: For ``auto``: what the model is to make (``relate``, ``plan``, ``generate``). One that cannot is not
                asked.

        Raises:
            ConfigError: ``llm`` was asked for and no endpoint is configured.
        """
        deps = await self.deps()
        if choice not in ("auto", "llm") or (choice == "auto" and deps.model is None):
            return None
        if self.preset == "paper":
            return self.paper_engine(deps)
        ability = await deps.ability(self.layout)
        if choice == "auto" and not ability.makes(stage):
            return None
        prompts = templates(deps.settings.prompts_dir)
        return LlmEngine(deps.require_model(), prompts, self.sampling, ability.layout, deps.prober.owed())

    def paper_engine(self, deps: Resources) -> PaperEngine:
        """The engine of Disco-RAG as printed. Raises `ConfigError` where no language model is configured."""
        settings = deps.settings
        prompts = paper_templates(settings.prompts_dir)
        return PaperEngine(deps.require_model(), prompts, self.sampling, settings.llm.context_tokens)

    @property
    def sampling(self) -> Sampling:
        """How the language model is asked."""
        return Sampling(
            temperature=self.temperature,
            beam_width=self.beam_width,
            graph_tokens=self.graph_tokens,
            plan_tokens=self.plan_tokens,
            answer_tokens=self.answer_tokens,
        )


class IngestContext(IngestSwitches, _Scoped):
    """Switches of the ingest graph, whose documents it reads, and with which resources."""

    index: SkipJsonSchema[bool] = Field(
        default=True,
        exclude=True,
        repr=False,
        description="Index the store at the end; a server does when it is quiet.",
    )

    def tree_engine(self, deps: Resources) -> str:
        """Who parses; ``none`` leaves the chunks' trees to the question."""
        return _parser(self.parser, deps)


def _parser(name: str, deps: Resources) -> str:
    return deps.settings.parser.kind if name == "auto" else name


_opening = threading.Lock()


@cache
def _opened() -> Resources:
    return Resources.open()


def _open_once() -> Resources:
    with _opening:
        return _opened()


async def default_resources() -> Resources:
    """The process's resources, opened once from the settings, in a thread (opening reads files)."""
    return await asyncio.to_thread(_open_once)


def answer_context(runtime: Runtime[AnswerContext]) -> AnswerContext:
    """The run's switches; when the caller gave none, the defaults, the same for all runs."""
    return runtime.context or _defaults()


@cache
def _defaults() -> AnswerContext:
    return AnswerContext()


def ingest_context(runtime: Runtime[IngestContext]) -> IngestContext:
    """The run's switches; defaults when the caller gave none."""
    return runtime.context or IngestContext()
