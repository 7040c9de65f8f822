"""What the retrieving nodes have in common: where the run goes with what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.types import Command

from discorag.retrieval.index import TreeIndex
from discorag.retrieval.registry import SelectedNodes
from discorag.retrieval.search import TreeSearch, passages_with
from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure
from discorag.schema.values import Span
from discorag.store.records import Hit
from discorag.store.retrieval import nothing_in
from nodes.context import AnswerContext
from nodes.stage import Stage

Found = Literal["rerank", "abstain"]
NOTHING = "Nothing in the documents matches the question and its filters."
REFUSED = "The router refused every document."


async def finish_retrieval(
    hits: Sequence[Hit],
    context: AnswerContext,
    stage: Stage,
    *,
    copies: Mapping[str, list[str]],
    inside: Mapping[str, Sequence[Span]] | None = None,
    refused: bool = False,
    preview: str = "",
) -> Command[Found]:
    """The update, and on to the next node; to ``abstain`` where nothing was found, or all was refused.

    Raises:
        EmptyCorpusError: Nothing was found, and there are no documents, or ``abstain`` is never.
    """
    backends, scope = await context.open_backends(), await context.scope()
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
    update = {"hits": ranked, "copies": copies, "evidence": evidence, "because": because, "ledger": ledger}
    return Command(goto=goes, update=update)


async def finish_tree_retrieval(
    search: TreeSearch, selected: SelectedNodes | None, context: AnswerContext, stage: Stage
) -> Command[Any]:
    """The update with the chunks that hold the evidence of selected nodes; none where there is no document."""
    if search.query is None or selected is None:
        return await finish_retrieval([], context, stage, copies={})
    backends, scope = await context.open_backends(), await context.scope()
    scores, options = search.query.scores, context.tree_options
    hits, inside = await asyncio.to_thread(passages_with, backends.store, scope, scores, selected, options)
    stage.usage += selected.usage
    stage.failures += selected.failures
    record_effort(stage, search.index)
    preview = f"{len(selected.nodes)} nodes in {len(hits)} chunks; {len(search.index.built)} trees built"
    return await finish_retrieval(
        hits, context, stage, copies=search.copies, inside=inside, refused=selected.refused, preview=preview
    )


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
