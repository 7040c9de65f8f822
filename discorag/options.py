"""What a question and an ingest may choose: options with their help, names checked against the registries."""

from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discorag.discourse.parse.parser import PARSERS
from discorag.registry import Named
from discorag.retrieval.forest import NodeScores
from discorag.retrieval.registry import RETRIEVERS, UNFOLD, ChunkRetriever, tree_retriever
from discorag.retrieval.search import TreeOptions
from discorag.schema.answer import Detail, JudgeName

TOP_K = 10
MOST_TOKENS = 1_000_000

Engine = Literal["auto", "local", "llm"]
Profile = Literal["auto", "verbatim", "written"]
Preset = Literal["default", "local", "standard", "paper", "disretrieval", "raptor", "htsir", "rdr2"]
Layout = Literal["auto", "inline", "plain"]
DEFAULT_RETRIEVER = "snapped"
"""The retriever with the most evidence on development documents of QMSum and FairytaleQA (`docs/retrieval.md`)."""

PLAIN: dict[str, Any] = {
    "use_tree": False,
    "use_graph": False,
    "use_plan": False,
    "node_scores": "dense",
    "abstain": "never",
}
"""What papers on retrieval alone have in common: passages ranked by vectors, and a reader of passages."""
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "local": {"profile": "verbatim"},
    "standard": {"retriever": "dense", "use_tree": False, "use_graph": False, "use_plan": False},
    "paper": {
        "retriever": "dense",
        "top_k": 10,
        "parser": "paper",
        "relater": "llm",
        "planner": "llm",
        "generator": "llm",
        "beam_width": 3,
        "abstain": "never",
    },
    "disretrieval": {**PLAIN, "retriever": "discourse", "node_k": 5, "evidence_words": 400},
    "raptor": {**PLAIN, "retriever": "raptor", "context": "nodes", "evidence_tokens": 2000},
    "htsir": {**PLAIN, "retriever": "htsir", "context": "nodes", "node_k": 10, "evidence_words": 2000},
    "rdr2": {**PLAIN, "retriever": "rdr2", "node_k": 5, "unfold": 5, "evidence_words": 2000, "abstain": "auto"},
}
"""Options of each ``preset``, unless given otherwise; the command line, the API, the page, Studio and the models of the
OpenAI endpoint (`graphs.baselines.PIPELINES`) read this table.

Sources: Disco-RAG section 4; DISRetrieval section 4.1 (200 to 400 words) and E.2; RAPTOR section 3; HTSIR, "Experiment
Settings"; RDR² section 4.3 and table 9. HTSIR and RDR² limit the number of passages, not of words: their passages have
fewer than 2,000.
"""
PROFILES: dict[str, dict[str, Any]] = {
    "verbatim": {"relater": "local", "planner": "local", "generator": "local"},
    "written": {"generator": "llm"},
}
"""Options of each ``profile``, unless given otherwise."""
WHOLE_CHUNKS: dict[str, Any] = {"retriever": "hybrid", "rerank": True}
"""What a language model reads unless a preset or an option says otherwise: whole chunks, the best first."""
OF_TREES = frozenset({"search_documents", "node_scores", "evidence_words", "evidence_tokens", "context", "node_k"})
"""Options of retrievers over trees. Given without a retriever, they select the default one."""
OF_RETRIEVAL = OF_TREES | {"top_k", "preset", "profile", "retriever", "generator", "refine"}
"""If a question sets one of these, the options in the settings are not used."""
PAPERS = frozenset(PRESETS) - {"default", "local", "standard"}
"""Presets that follow a paper, also in when to refuse an answer."""


RetrieverName = Annotated[str, Named(RETRIEVERS)]
ParserName = Annotated[str, Named(PARSERS, ("auto",))]
IngestParserName = Annotated[str, Named(PARSERS, ("auto", "none"))]


class Options(BaseModel):
    """Frozen options; other names are refused."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)


class AnswerOptions(Options):
    """The options of a question. With trees, graph and plan all off it is standard RAG."""

    preset: Preset = Field(
        default="default",
        description="default: graph, plan and answer as turns of one conversation. local: the same without a language "
        "model. standard: dense chunks, without tree, graph and plan. paper: Disco-RAG as printed, separate "
        "calls of a language model with the inputs and outputs of its figures, dense top 10, beam 3. disretrieval, "
        "raptor, htsir, rdr2 (needs a language model): these papers' retrieval, without tree, graph and plan.",
    )
    profile: Profile = Field(
        default="auto",
        description="verbatim: the answer is sentences of the sources; no language model is called. written: a "
        "language model writes it from the ten best chunks, or says that they do not answer; the verbatim answer is "
        "shown first, and stays if the model fails. auto: written if a language model is configured.",
    )
    retriever: RetrieverName = Field(
        default=DEFAULT_RETRIEVER,
        description="How evidence is found; dense, hybrid and all retrieve chunks, the others search trees. By default "
        "snapped; hybrid if a language model writes; dense if top_k is given. "
        f"{RETRIEVERS.described()}.",
    )
    search_documents: int = Field(default=20, ge=1, le=10_000, description="Documents whose trees are searched.")
    node_scores: NodeScores = Field(
        default="hybrid",
        description="How nodes of trees are scored. dense: by their vectors; bm25: by the words below them; hybrid: "
        "both, fused by rank (k = 60).",
    )
    evidence_words: int = Field(
        default=400, ge=1, le=100_000, description="Most words of evidence from a retriever over trees."
    )
    evidence_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MOST_TOKENS,
        description="The same in tokens of the encoder, used instead of evidence_words (RAPTOR: 2,000).",
    )
    context: Literal["evidence", "nodes"] = Field(
        default="evidence",
        description="What is read of the chosen nodes of trees. evidence: only source text, for a summary the best "
        "leaves below it; nodes: the nodes' own texts, summaries too; a sentence from a summary is traced to the "
        "text below it (RAPTOR, HTSIR).",
    )
    node_k: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="The k of a retriever over trees: leaves that an inner node contributes (algorithm 1: 5), nodes "
        "of a layer (raptor-traversal: 5), nodes that stay after reranking (htsir: 10), passages from which a router "
        "starts (rdr2: 5). None: these numbers.",
    )
    unfold: int = Field(
        default=UNFOLD, ge=0, le=100, description="Of rdr2: headings that the router may unfold in a document."
    )
    top_k: int = Field(default=TOP_K, ge=1, le=200, description="Number of chunks to retrieve (Disco-RAG uses 10).")
    rerank: bool = Field(
        default=False,
        description="Order what was retrieved by the configured reranker. On by default if a language model reads "
        "whole chunks.",
    )
    abstain: Literal["auto", "never"] = Field(
        default="auto",
        description="auto: the question is refused, with the closest passages, if nothing is found, what is found "
        "does not seem to answer it (`answerable` in the result is the probability), a router refuses every "
        "document, or the language model says that the passages do not answer. never: always answer.",
    )
    strict: bool = Field(
        default=False,
        description="If the language model fails, raise its error. By default the question is answered without it, "
        "with a note.",
    )
    use_tree: bool = Field(default=True, description="Use the RST tree inside each chunk.")
    use_graph: bool = Field(default=True, description="Infer the rhetorical graph between chunks.")
    use_plan: bool = Field(default=True, description="Plan the answer before writing it.")
    plan: str | None = Field(
        default=None,
        min_length=1,
        max_length=20_000,
        description="Follow this plan instead of making one: a paragraph whose sentences are the steps; [2.3] cites "
        "the third unit of the second chunk.",
    )
    parser: ParserName = Field(
        default="auto", description=f"Parser for chunks without a tree. auto: as configured. {PARSERS.described()}."
    )
    relater: Engine = Field(default="auto", description="Engine for the graph. auto: llm if an endpoint is configured.")
    verifier: JudgeName = Field(
        default="auto",
        description="What judges sentences that are not quoted word for word. auto: the NLI model if one is "
        "configured, else nothing; llm: the language model, one call for all sentences.",
    )
    layout: Layout = Field(
        default="auto",
        description="How trees are shown to a language model. inline: marks in the text; plain: not at all. "
        "auto: as configured, or as one test call finds out.",
    )
    planner: Engine = Field(default="auto", description="Engine for the plan. auto: llm if an endpoint is configured.")
    generator: Engine = Field(
        default="auto", description="Engine for the answer. auto: llm if an endpoint is configured."
    )
    detail: Detail = Field(
        default="enough",
        description="Length of an answer without a language model. enough: the few sentences that answer best; full: "
        "all that is relevant, up to a limit, for questions that need a survey.",
    )
    refine: int = Field(
        default=0,
        ge=0,
        le=3,
        description="Rounds in which the language model checks its answer against the passages and rewrites it, until "
        "nothing changes (HTSIR, feedback-driven refinement). Each costs one call.",
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature of the language model.")
    beam_width: int = Field(default=1, ge=1, le=16, description="Beam search width on servers that have it; 1 is off.")
    answer_tokens: int | None = Field(
        default=None,
        ge=16,
        le=MOST_TOKENS,
        description="Most tokens of the answer. None: grows with the number of chunks.",
    )

    @property
    def tree_options(self) -> TreeOptions:
        """The options of retrievers over trees."""
        return TreeOptions(
            documents=self.search_documents,
            scored_by=self.node_scores,
            budget=self.evidence_tokens or self.evidence_words,
            in_tokens=self.evidence_tokens is not None,
            own_texts=self.context == "nodes",
            k=self.node_k,
            unfold=self.unfold,
        )

    @model_validator(mode="before")
    @classmethod
    def _preset(cls, given: Any) -> Any:
        """The caller's options come first, then those of the preset, then the retriever that an option needs."""
        if not isinstance(given, dict):
            return given
        options = cast("dict[str, Any]", given)
        needed = {"retriever": DEFAULT_RETRIEVER} if options.keys() & OF_TREES else {}
        if "top_k" in options:
            needed = {"retriever": "dense"}
        return {**needed, **PRESETS.get(str(options.get("preset")), {}), **options}

    def with_profile(self, *, has_model: bool) -> Self:
        """These options with those of their profile, which is no longer ``auto``; explicit options stay.

        Args:
            has_model: Whether a language model is configured.
        """
        is_written = self.generator == "llm" or (self.generator == "auto" and has_model)
        profile = self.profile if self.profile != "auto" else "written" if is_written else "verbatim"
        options = PROFILES[profile]
        found = RETRIEVERS[self.retriever]
        over_chunks = isinstance(found, ChunkRetriever) and found.search is not None
        is_over_trees = "retriever" in self.model_fields_set and not over_chunks
        if profile == "written" and self.preset == "default" and not is_over_trees:
            options = options | WHOLE_CHUNKS
        update = {name: value for name, value in options.items() if name not in self.model_fields_set}
        return self.model_copy(update={**update, "profile": profile})

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.profile, self.generator) in {("verbatim", "llm"), ("written", "local")}:
            raise ValueError(f"profile={self.profile!r} and generator={self.generator!r} exclude each other.")
        if self.top_k != TOP_K and tree_retriever(self.retriever):
            raise ValueError(
                f"top_k counts chunks, but {self.retriever!r} retrieves over trees: set evidence_words, or "
                "retriever='dense' or 'hybrid'."
            )
        if self.context == "nodes" and not tree_retriever(self.retriever):
            raise ValueError(
                f"context='nodes' gives nodes of trees, but {self.retriever!r} retrieves chunks: choose a retriever "
                "over trees, or context='evidence'."
            )
        if self.refine and (self.profile == "verbatim" or self.generator == "local" or self.preset == "paper"):
            raise ValueError(
                "refine lets the language model improve its own answer: it needs generator='llm' or 'auto', "
                "and no preset='paper'."
            )
        return self


class IngestOptions(Options):
    """The options of an ingest."""

    parser: IngestParserName = Field(
        default="auto",
        description="Parser for the chunks' trees. auto: as configured; none: chunks are parsed when a question "
        f"needs them. {PARSERS.described()}.",
    )
    retriever: RetrieverName = Field(
        default=DEFAULT_RETRIEVER,
        description="Build the trees of this retriever now; others are built when a question first needs them. "
        "Retrievers over chunks, such as dense, need none.",
    )
    refresh: bool = Field(default=False, description="Store every document again, even unchanged ones.")
