"""What the retrieving nodes have in common: where the run goes with what was found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from langgraph.types import Command

from discorag.schema.values import Span
from discorag.store.records import Hit
from discorag.store.retrieval import nothing_in
from nodes.context import AnswerContext
from nodes.stage import Stage

Found = Literal["rerank", "abstain"]
NOTHING = "Nothing in the documents matches the question and its filters."
REFUSED = "The router refused every document."


async def retrieved(
    hits: Sequence[Hit],
    context: AnswerContext,
    stage: Stage,
    *,
    copies: Mapping[str, list[str]],
    inside: Mapping[str, Sequence[Span]] | None = None,
    refused: bool = False,
    preview: str = "",
    more: Mapping[str, Any] | None = None,
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
    return Command(goto=goes, update={**update, **(more or {})})
