"""What a question and an ingest may choose: switches with their help, names checked against the registries."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discorag.registry import Named
from discorag.relations.engine import RELATION_ENGINES
from discorag.rst.parser import PARSERS
from discorag.store.protocol import Retrieval
from discorag.trees.registry import RETRIEVERS
from discorag.trees.scores import NodeScores
from discorag.verification.verifier import VERIFIERS

TOP_K = 10
MOST_TOKENS = 1_000_000

Engine = Literal["auto", "local", "llm"]
DEFAULT_RETRIEVER = "snapped"
"""What brought the most evidence on the development halves of QMSum and FairytaleQA (`bench/README.md`)."""
CHUNK_RETRIEVERS = (*get_args(Retrieval), "all")
"""Retrievers over chunks; those over trees are in `RETRIEVERS`."""

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


def retriever_names() -> tuple[str, ...]:
    """All names of ``retriever=``."""
    return (*CHUNK_RETRIEVERS, *RETRIEVERS)


RetrieverName = Annotated[str, Named(RETRIEVERS, CHUNK_RETRIEVERS)]
ParserName = Annotated[str, Named(PARSERS, ("auto",))]
RelaterName = Annotated[str, Named(RELATION_ENGINES, ("auto", "llm"))]
VerifierName = Annotated[str, Named(VERIFIERS)]
IngestParserName = Annotated[str, Named(PARSERS, ("auto", "none"))]


class Switches(BaseModel):
    """No other names than these; once made they stay as they are."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)


class AnswerSwitches(Switches):
    """What a question may choose. With trees, graph and plan all off it is standard RAG."""

    preset: Literal["ours", "paper"] = Field(
        default="ours",
        description="ours: graph, plan and answer as turns of one conversation. paper: Disco-RAG as printed, separate "
        "calls of a language model with the inputs and outputs of its figures, dense top 10, beam 3.",
    )
    retriever: RetrieverName = Field(
        default=DEFAULT_RETRIEVER,
        description="Over chunks: dense; hybrid: dense and BM25 fused by rank (k = 60); all: every chunk in document "
        "order. Over trees, which are built at ingest or when they are first needed: the others. Where only top_k or "
        f"follow is given, which are about chunks: dense. {RETRIEVERS.described()}.",
    )
    search_documents: int = Field(default=20, ge=1, le=10_000, description="Documents whose trees are searched.")
    node_scores: NodeScores = Field(
        default="hybrid",
        description="How nodes of trees are scored. dense: by their vectors; bm25: by the words of the sentences below "
        "them; hybrid: both fused by rank (k = 60).",
    )
    evidence_words: int = Field(
        default=400, ge=1, le=100_000, description="Words of evidence that a retriever over trees gives."
    )
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
        le=MOST_TOKENS,
        description="Tokens that each chunk is shortened to by its tree, satellites first, never one that changes what "
        "its nucleus means. None: whole chunks.",
    )
    parser: ParserName = Field(
        default="auto", description=f"Who parses what lacks a tree. auto: as configured. {PARSERS.described()}."
    )
    relater: RelaterName = Field(
        default="auto",
        description="Engine for the graph. auto: llm if an endpoint is configured, else local; llm: the model. "
        f"{RELATION_ENGINES.described()}.",
    )
    verifier: VerifierName = Field(
        default="local", description=f"Who traces the answer's sentences to their sources. {VERIFIERS.described()}."
    )
    layout: Literal["auto", "inline", "indented", "plain"] = Field(
        default="auto",
        description="How a language model is shown trees. inline: marked in the text; indented: sentences set in by "
        "their depth; plain: not at all. auto: as configured, there by what one call finds out.",
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
    tree_tokens: int | None = Field(
        default=None,
        ge=16,
        le=MOST_TOKENS,
        description="Output limit of a tree call, in tokens. None: by the length of the text.",
    )
    graph_tokens: int | None = Field(
        default=None,
        ge=16,
        le=MOST_TOKENS,
        description="Output limit of the graph call, in tokens. None: by the number of chunks.",
    )
    plan_tokens: int | None = Field(
        default=None, ge=16, le=MOST_TOKENS, description="Output limit of the plan call, in tokens. None: likewise."
    )
    answer_tokens: int | None = Field(
        default=None, ge=16, le=MOST_TOKENS, description="Output limit of the answer call, in tokens. None: likewise."
    )

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
        if self.top_k != TOP_K and self.retriever in RETRIEVERS:
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


class IngestSwitches(Switches):
    """What an ingest may choose."""

    parser: IngestParserName = Field(
        default="auto",
        description="Who makes the trees. auto: as configured; none: a chunk's is left to the question. "
        f"{PARSERS.described()}.",
    )
    retriever: RetrieverName = Field(
        default=DEFAULT_RETRIEVER,
        description="Whose trees are built now; others are when a question first needs them. Retrievers over chunks, "
        "such as dense, need none.",
    )
    refresh: bool = Field(default=False, description="Store every document again, also unchanged ones.")
