"""Run-scoped switches (what Studio shows as the assistant's configuration) and dependencies."""

from __future__ import annotations

import asyncio
import threading
from functools import cache
from typing import Any, Literal, Self, cast, get_args

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from discorag.prompted.as_printed import PaperEngine
from discorag.prompted.engine import LlmEngine, Sampling
from discorag.store.protocol import Retrieval
from discorag.trees.index import NodeScores
from discorag.trees.retrievers import TreeRetrieverName
from discorag.types.document import Scope
from nodes.resources import Resources
from nodes.templates import paper_templates, templates

PROMPT_TOKENS = 2048
"""Tokens left for the prompt around the evidence."""
TOP_K = 10

Engine = Literal["auto", "local", "llm"]
DEFAULT_RETRIEVER = "snapped"
"""What brought the most evidence on the development halves of QMSum and FairytaleQA (`bench/README.md`)."""
RETRIEVER_NAMES: tuple[str, ...] = (*get_args(Retrieval), "all", *get_args(TreeRetrieverName))

PAPER: dict[str, Any] = {
    "retriever": "dense",
    "top_k": 10,
    "parser": "llm",
    "relater": "llm",
    "planner": "llm",
    "generator": "llm",
    "beam_width": 3,
}
"""Switches of ``preset=paper``, unless given otherwise (Disco-RAG section 4)."""


class _Switches(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)


class _Scoped(_Switches):
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


class AnswerSwitches(_Switches):
    """What a question may choose. With trees, graph and plan all off it is standard RAG."""

    preset: Literal["ours", "paper"] = Field(
        default="ours",
        description="ours: graph, plan and answer as turns of one conversation. paper: Disco-RAG as printed, separate "
        "calls of a language model with the inputs and outputs of its figures, dense top 10, beam 3.",
    )
    retriever: Literal[Retrieval, "all", TreeRetrieverName] = Field(
        default=DEFAULT_RETRIEVER,
        description="Over chunks: dense; hybrid: dense and BM25 fused by rank (k = 60); all: every chunk in document "
        "order. Over trees, which are built at ingest or when they are first needed: snapped, unified, discourse "
        "(DISRetrieval), raptor, raptor-traversal, htsir, rdr2; and controls without discourse structure. Where only "
        "top_k or follow is given, which are about chunks: dense.",
    )
    search_documents: int = Field(default=20, ge=1, description="Documents whose trees are searched.")
    node_scores: NodeScores = Field(
        default="hybrid",
        description="How nodes of trees are scored. dense: by their vectors; bm25: by the words of the sentences below "
        "them; hybrid: both fused by rank (k = 60).",
    )
    evidence_words: int = Field(default=400, ge=1, description="Words of evidence that a retriever over trees gives.")
    top_k: int = Field(
        default=TOP_K, ge=1, le=200, description="Chunks to retrieve, by a retriever over chunks (Disco-RAG uses 10)."
    )
    follow: bool = Field(
        default=False,
        description="Let a question that names a relation (what causes, evidence against, under what conditions) give "
        "up to a third of the places to chunks that hang on the best ones by that relation.",
    )
    use_tree: bool = Field(default=True, description="Use the RST tree inside each chunk.")
    use_graph: bool = Field(default=True, description="Infer the rhetorical graph between chunks.")
    use_plan: bool = Field(default=True, description="Plan the answer before writing it.")
    compress_to: int | None = Field(
        default=None,
        ge=1,
        description="Tokens that each chunk is shortened to by its tree, satellites first, never one that changes what "
        "its nucleus means. None: whole chunks.",
    )
    parser: Engine = Field(default="auto", description="Engine for trees that a chunk lacks. auto: local.")
    relater: Engine | Literal["rules"] = Field(
        default="auto",
        description="Engine for the graph. auto: llm if an endpoint is configured, else local, which learned from GUM; "
        "rules: stated cues and similarity only.",
    )
    planner: Engine = Field(default="auto", description="Engine for the plan. auto: llm if an endpoint is configured.")
    generator: Engine = Field(
        default="auto", description="Engine for the answer. auto: llm if an endpoint is configured."
    )
    refine: int = Field(
        default=0,
        ge=0,
        le=3,
        description="Rounds in which the language model checks its answer against the passages and rewrites it, until "
        "it changes nothing (HTSIR, feedback-driven refinement). Each costs one call.",
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature of the language model.")
    beam_width: int = Field(default=1, ge=1, le=16, description="Beam search width on servers that have it; 1 is off.")
    tree_tokens: int = Field(default=2048, ge=16, description="Output limit of a tree call, in tokens.")
    graph_tokens: int = Field(default=2048, ge=16, description="Output limit of the graph call, in tokens.")
    plan_tokens: int = Field(default=512, ge=16, description="Output limit of the plan call, in tokens.")
    answer_tokens: int = Field(default=1024, ge=16, description="Output limit of the answer call, in tokens.")

    @model_validator(mode="before")
    @classmethod
    def _preset(cls, given: Any) -> Any:
        """What the preset sets comes first, what the caller sets counts; who counts or follows chunks wants chunks."""
        if not isinstance(given, dict):
            return given
        switches = cast("dict[str, Any]", given)
        if switches.get("preset") == "paper":
            return {**PAPER, **switches}
        return {"retriever": "dense", **switches} if switches.keys() & {"top_k", "follow"} else switches

    @model_validator(mode="after")
    def _compressible(self) -> Self:
        if self.compress_to is not None and (not self.use_tree or self.preset == "paper"):
            raise ValueError("compress_to goes by the chunks' trees: it needs use_tree=True and preset='ours'.")
        return self

    @model_validator(mode="after")
    def _countable(self) -> Self:
        if self.top_k != TOP_K and self.retriever in get_args(TreeRetrieverName):
            raise ValueError(
                f"top_k counts chunks, but {self.retriever!r} retrieves over trees: set evidence_words, or "
                "retriever='dense' or 'hybrid'."
            )
        return self

    @model_validator(mode="after")
    def _followable(self) -> Self:
        if self.follow and (self.retriever not in get_args(Retrieval) or self.preset == "paper"):
            raise ValueError(
                "follow chooses among what a search finds: it needs a retriever over chunks, and preset='ours'."
            )
        return self

    @model_validator(mode="after")
    def _refinable(self) -> Self:
        if self.refine and (self.generator == "local" or self.preset == "paper"):
            raise ValueError(
                "refine has the language model improve its own answer: it needs generator='llm' or 'auto', "
                "and preset='ours'."
            )
        return self


class AnswerContext(AnswerSwitches, _Scoped):
    """Switches of the answer graph, whose documents it answers from, and with which resources."""

    @property
    def structured(self) -> bool:
        """False when everything is off: standard RAG."""
        return self.use_tree or self.use_graph or self.use_plan

    def room(self, deps: Resources) -> int | None:
        """Tokens of evidence that fit the language model's context; None if none will read it."""
        if self.generator == "local" or deps.model is None:
            return None
        return deps.settings.llm.context_tokens - self.answer_tokens - PROMPT_TOKENS

    def tree_engine(self) -> str:
        """Whose trees a chunk gets that lacks one."""
        return "paper" if self.preset == "paper" and self.parser == "llm" else self.parser

    async def llm(self, choice: Engine) -> LlmEngine | PaperEngine | None:
        """The prompted engine if ``choice`` asks for it; None means the local engine.

        Raises:
            ConfigError: ``llm`` was asked for and no endpoint is configured.
        """
        deps = await self.deps()
        if choice == "local" or (choice == "auto" and deps.model is None):
            return None
        if self.preset == "paper":
            return PaperEngine(deps.require_model(), paper_templates(), self.sampling)
        return LlmEngine(deps.require_model(), templates(), self.sampling)

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


class IngestContext(_Scoped):
    """Switches of the ingest graph."""

    parser: Literal["local", "accurate", "rules", "right-branching", "llm", "paper", "none"] = Field(
        default="local",
        description="Engine that makes the chunks' trees. local: the trained parser over MiniLM; accurate: over "
        "mpnet; rules: sentences joined by layout and connectives; right-branching: a control; "
        "paper: llm with the prompt of Disco-RAG fig. 10, beam 3; none leaves them to the query.",
    )
    retriever: Literal[Retrieval, "all", TreeRetrieverName] = Field(
        default=DEFAULT_RETRIEVER,
        description="Whose trees are built now; others are when a question first needs them. Retrievers over chunks, "
        "such as dense, need none.",
    )
    refresh: bool = Field(default=False, description="Store every document again, also unchanged ones.")


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
    """The run's switches; defaults when the caller gave none."""
    return runtime.context or AnswerContext()


def ingest_context(runtime: Runtime[IngestContext]) -> IngestContext:
    """The run's switches; defaults when the caller gave none."""
    return runtime.context or IngestContext()
