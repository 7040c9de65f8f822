"""Options as keyword arguments that an editor completes, generated from `discorag.options`."""

from __future__ import annotations

from typing import Literal, TypedDict


class AnswerKeywords(TypedDict, total=False):
    """Of a question."""

    tenant: str | None
    corpus: str | None
    preset: Literal["default", "local", "standard", "paper", "disretrieval", "raptor", "htsir", "rdr2"]
    profile: Literal["auto", "verbatim", "written"]
    retriever: str
    search_documents: int
    node_scores: Literal["dense", "bm25", "hybrid"]
    evidence_words: int
    evidence_tokens: int | None
    context: Literal["evidence", "nodes"]
    node_k: int | None
    pool: int
    unfold: int
    top_k: int
    rerank: bool
    abstain: Literal["auto", "never"]
    use_tree: bool
    use_graph: bool
    use_plan: bool
    compress_to: int | None
    parser: str
    relater: str
    verifier: str
    layout: Literal["auto", "inline", "indented", "plain"]
    planner: Literal["auto", "local", "llm"]
    generator: Literal["auto", "local", "llm"]
    detail: Literal["enough", "full"]
    refine: int
    temperature: float
    beam_width: int
    tree_tokens: int | None
    graph_tokens: int | None
    plan_tokens: int | None
    answer_tokens: int | None


class IngestKeywords(TypedDict, total=False):
    """Of an ingest."""

    tenant: str | None
    corpus: str | None
    parser: str
    retriever: str
    refresh: bool
    index: bool
