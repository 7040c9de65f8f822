"""What the retrieving nodes have in common: where the run goes with what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.types import Command

from discorag.retrieval.index import TreeIndex
from discorag.retrieval.registry import SelectedNodes
from discorag.retrieval.search import TreeSearch, passages_with, search_chunks
from discorag.schema.document import Chunk
from discorag.schema.errors import ReadOnlyStoreError, Usage
from discorag.schema.ledger import Failure
from discorag.schema.values import Span
from discorag.store.records import Hit
from discorag.store.retrieval import Distinct, nothing_in
from nodes.context import AnswerContext, EvidenceCache
from nodes.inputs import question_of
from nodes.stage import Stage
from nodes.state import AnswerState

Found = Literal["rerank", "abstain"]
NOTHING = "Nothing in the documents matches the question and its filters."
REFUSED = "The router refused every document."


def search_options(state: AnswerState, context: AnswerContext) -> dict[str, Any]:
    """How `search_chunks` searches for this question."""
    return {"retriever": context.retriever, "top_k": context.top_k, "filters": state.get("filters") or {}}


async def tree_search(state: AnswerState, context: AnswerContext) -> dict[str, Any]:
    """The arguments of `search_trees` for this question."""
    backends = await context.open_backends()
    return {
        "tools": backends.tree_tools(context.tree_engine(backends)),
        "store": backends.store,
        "scope": await context.scope(),
        "question": question_of(state),
        "filters": state.get("filters") or {},
        "options": context.tree_options,
    }


async def finish_retrieval(
    found: Distinct[Hit],
    context: AnswerContext,
    stage: Stage,
    *,
    read: Mapping[str, Chunk] | None = None,
    inside: Mapping[str, Sequence[Span]] | None = None,
    refused: bool = False,
    preview: str = "",
) -> Command[Any]:
    """The update, and on to the next node; to ``abstain`` where nothing was found, or all was refused.

    ``read`` are the chunks that the search has read already.

    Raises:
        EmptyCorpusError: Nothing was found, and there are no documents, or ``abstain`` is never.
    """
    backends, scope, hits = await context.open_backends(), await context.scope(), found.best
    if read is not None:
        context.set_cache(EvidenceCache(found=read))
    because = "" if hits and not refused else REFUSED if refused else NOTHING
    if not hits and not (context.abstain == "auto" and await asyncio.to_thread(backends.store.has, scope)):
        raise await asyncio.to_thread(nothing_in, backends.store, scope)
    goes: Found = "abstain" if because and context.abstain == "auto" else "rerank"
    if backends.store.index_note:
        stage.record_route("index", backends.store.index_note)
    stage.record_route(goes, because or f"{len(hits)} chunks were found")
    evidence = {chunk: [[s.start, s.end] for s in spans] for chunk, spans in (inside or {}).items()}
    ledger = stage.done(engine="local", model=backends.encoder.version, preview=preview or f"{len(hits)} chunks")
    ranked = [{"chunk_id": h.chunk_id, "score": h.score} for h in hits]
    update = {"hits": ranked, "copies": found.copies, "evidence": evidence, "because": because, "ledger": ledger}
    return Command(goto=goes, update=update)


async def retrieve_chunks_instead(
    error: ReadOnlyStoreError, state: AnswerState, context: AnswerContext, stage: Stage
) -> Command[Any]:
    """The update with chunks, where trees have to be built and cannot be stored."""
    stage.failed(error, fallback="dense")
    backends, scope = await context.open_backends(), await context.scope()
    hits, read = await search_chunks(backends, scope, question_of(state), **search_options(state, context))
    return await finish_retrieval(hits, context, stage, read=read)


async def finish_tree_retrieval(
    search: TreeSearch, selected: SelectedNodes | None, context: AnswerContext, stage: Stage
) -> Command[Any]:
    """The update with the chunks that hold the evidence of selected nodes; none where there is no document."""
    if search.query is None or selected is None:
        return await finish_retrieval(Distinct([], {}), context, stage)
    backends, scope = await context.open_backends(), await context.scope()
    scores, options = search.query.scores, context.tree_options
    hits, inside = await asyncio.to_thread(passages_with, backends.store, scope, scores, selected, options)
    stage.usage += selected.usage
    stage.failures += selected.failures
    record_effort(stage, search.index)
    preview = f"{len(selected.nodes)} nodes in {len(hits)} chunks; {len(search.index.built)} trees built"
    found = Distinct([*hits], {**search.copies})
    return await finish_retrieval(found, context, stage, inside=inside, refused=selected.refused, preview=preview)


def record_effort(stage: Stage, index: TreeIndex) -> None:
    """Put what building trees cost, and what failed in it, into the stage's record."""
    stage.usage += sum((built.usage for built in index.built), Usage())
    stage.failures += [
        Failure(stage=stage.name, kind="summary", message=message, fallback="extractive text")
        for built in index.built
        for message in built.failures
    ]
    parsed, reused = sum(built.parsed for built in index.built), sum(built.reused for built in index.built)
    stage.counts = {"trees built": len(index.built), "parses": parsed, "parses known": reused}
