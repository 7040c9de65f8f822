"""The switches as keyword arguments that an editor completes; `nodes.options` says what each does."""

from __future__ import annotations

from typing import Literal, TypedDict

from discorag.retrieval.scores import NodeScores
from discorag.schema.answer_inputs import Detail
from nodes.options import Engine, Layout, Preset


class Scoped(TypedDict, total=False):
    """Whose documents."""

    tenant: str | None
    corpus: str | None


class AnswerKeywords(Scoped, total=False):
    """Of a question."""

    preset: Preset
    retriever: str
    search_documents: int
    node_scores: NodeScores
    evidence_words: int
    evidence_tokens: int | None
    context: Literal["evidence", "nodes"]
    node_k: int | None
    pool: int
    unfold: int
    top_k: int
    follow: bool
    rerank: bool
    abstain: Literal["auto", "never"]
    use_tree: bool
    use_graph: bool
    use_plan: bool
    compress_to: int | None
    parser: str
    relater: str
    verifier: str
    layout: Layout
    planner: Engine
    generator: Engine
    detail: Detail
    refine: int
    temperature: float
    beam_width: int
    tree_tokens: int | None
    graph_tokens: int | None
    plan_tokens: int | None
    answer_tokens: int | None


class IngestKeywords(Scoped, total=False):
    """Of an ingest."""

    parser: str
    retriever: str
    refresh: bool
    index: bool
