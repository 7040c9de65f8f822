"""retrieve: the best chunks, the evidence that a retriever over trees selects, or every chunk, in order."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from langgraph.runtime import Runtime

from discorag.options import TOP_K
from discorag.retrieval.registry import tree_retriever
from discorag.retrieval.search import Inside, passages_with, search_chunks, search_trees
from discorag.retrieval.width import CANDIDATES, EARLIER
from discorag.schema.document import Chunk
from discorag.schema.errors import InputError, NotFoundError, ReadOnlyStoreError, StoreError
from discorag.schema.metadata import accepts
from discorag.schema.values import Span
from discorag.store.records import Distinct, Hit
from discorag.store.retrieval import ATTEMPTS, everything, nothing_in
from nodes.answer.rerank import is_cut
from nodes.context import AnswerContext, EvidenceCache, answer_context
from nodes.inputs import filters_of, question_of
from nodes.stage import Stage
from nodes.state import AnswerState, Json

NOTHING = "Nothing in the documents matches the question and its filters."
REFUSED = "The router refused every document."


async def retrieve_chunks(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Search the scope for the question.

    Raises:
        QueryError: The question is longer than the encoder's window.
        EmptyCorpusError: Nothing was found, and there are no documents, or ``abstain`` is never.
    """
    return await _retrieve_chunks(state, await answer_context(state, runtime), Stage("retrieve"))


async def retrieve_sentence_tree(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Search for documents, then for nodes of their trees; returns the chunks that hold the evidence, narrowed to it.

    If trees are missing and cannot be stored, the chunks are searched instead. What is deleted or replaced before it is
    read is searched for again.

    Raises:
        QueryError: As `retrieve_chunks`, like ``EmptyCorpusError``.
        StoreError: Documents are replaced faster than they can be read.
    """
    context, stage = await answer_context(state, runtime), Stage("retrieve")
    for _ in range(ATTEMPTS):
        with suppress(NotFoundError):
            return await _retrieve_from_trees(state, context, stage)
    raise StoreError("The documents are replaced faster than they can be read.", hint="Ask again.")


async def _retrieve_from_trees(state: AnswerState, context: AnswerContext, stage: Stage) -> Json:
    """Raises `NotFoundError` if a document is deleted or replaced between search and reading."""
    backends, scope, options = await context.open_backends(), await context.scope(), context.tree_options
    retriever, parser = tree_retriever(context.retriever), backends.parser_name(context.parser)
    tools = await asyncio.to_thread(backends.tree_tools, parser)
    assert retriever is not None  # `prepare` chose this node
    question, filters, store = question_of(state), filters_of(state), backends.store
    try:
        search = await search_trees(retriever, tools, store, scope, question, filters, options)
    except ReadOnlyStoreError as error:
        stage.failed(error, fallback="dense")
        return await _retrieve_chunks(state, context, stage)
    if search.query is None:
        return await _finish(Distinct([], {}), context, stage)
    selected, scores = await retriever.choose(search.query), search.query.scores
    stage.usage += selected.usage
    stage.failures += selected.failures
    stage.record_trees(search.index.built)

    def read() -> tuple[list[Hit], Inside, dict[str, Chunk]]:
        with store.database.read():
            hits, inside = passages_with(store, scope, scores, selected, options)
            return hits, inside, store.stored_chunks(scope, [hit.chunk_id for hit in hits])

    hits, inside, chunks = await asyncio.to_thread(read)
    context.set_cache(EvidenceCache(found=chunks))
    preview = f"{len(selected.nodes)} nodes in {len(hits)} chunks; {len(search.index.built)} trees built"
    found = Distinct(hits, search.copies)
    return await _finish(found, context, stage, inside=inside, refused=selected.refused, preview=preview)


async def read_all(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Take every chunk, in document order, up to the tokens of the reader's context; raises as `everything`,
    `retrieve_chunks`.
    """
    context, stage = await answer_context(state, runtime), Stage("retrieve")
    backends, scope = await context.open_backends(), await context.scope()
    counter, room, store = backends.encoder.tokens, await context.room(backends), backends.store
    filters = filters_of(state)

    def read() -> tuple[Distinct, bool, dict[str, Chunk]]:
        with store.database.read():
            every, has_more = everything(store, scope, filters, counter=counter, room=room)
            return every, has_more, store.stored_chunks(scope, [hit.chunk_id for hit in every.best])

    every, has_more, chunks = await asyncio.to_thread(read)
    context.set_cache(EvidenceCache(found=chunks))
    if has_more:
        stage.failed(
            InputError(f"A context of {room} tokens cannot hold all documents."),
            fallback=f"the first {len(every.best)} chunks",
        )
    return await _finish(every, context, stage)


async def find_chunks(
    question: str, state: AnswerState, context: AnswerContext, wanted: int
) -> tuple[Distinct, dict[str, Chunk]]:
    """The best chunks for a question, as many as ``wanted``, with the other options of this run."""
    backends, scope, filters = await context.open_backends(), await context.scope(), filters_of(state)
    return await search_chunks(
        backends.store, backends.encoder, scope, question, context.retriever, top_k=wanted, filters=filters
    )


async def _retrieve_chunks(state: AnswerState, context: AnswerContext, stage: Stage) -> Json:
    wanted = CANDIDATES if is_cut(context) else context.top_k or TOP_K
    hits, read = await find_chunks(question_of(state), state, context, wanted)
    if context.preset == "written" and context.rerank and state.get("earlier"):
        again = [chunk for chunk in await _cited_before(state, context) if chunk.id not in read]
        stage.counts |= {"from earlier answers": len(again)} if again else {}
        hits = replace(hits, best=[*(Hit(chunk_id=chunk.id, score=0.0) for chunk in again), *hits.best])
        read |= {chunk.id: chunk for chunk in again}
    context.set_cache(EvidenceCache(found=read))
    return await _finish(hits, context, stage)


async def _cited_before(state: AnswerState, context: AnswerContext) -> list[Chunk]:
    """The latest chunks that earlier answers rest on, as far as they are still stored and the filters accept them."""
    store, scope, ids = (await context.open_backends()).store, await context.scope(), state.get("earlier", [])
    known = await asyncio.to_thread(store.known_chunks, scope, ids)
    chunks = await asyncio.to_thread(store.stored_chunks, scope, [i for i in ids if i in known][:EARLIER])
    filters = filters_of(state)
    return [chunk for chunk in chunks.values() if accepts(filters, chunk.metadata, chunk.doc_id)]


async def _finish(
    found: Distinct,
    context: AnswerContext,
    stage: Stage,
    *,
    inside: Mapping[str, Sequence[Span]] | None = None,
    refused: bool = False,
    preview: str = "",
) -> Json:
    """The update; it says why the question cannot be answered where nothing was found, or all was refused."""
    backends, scope, hits = await context.open_backends(), await context.scope(), found.best
    if not hits and not (context.abstain == "auto" and await asyncio.to_thread(backends.store.has, scope)):
        raise await asyncio.to_thread(nothing_in, backends.store, scope)
    because = (REFUSED if refused else "" if hits else NOTHING) if context.abstain == "auto" else ""
    if backends.store.index_note:
        stage.record_route("index", backends.store.index_note)
    stage.record_route("abstain" if because else "rerank", because or f"{len(hits)} chunks were found")
    evidence = {chunk: [[s.start, s.end] for s in spans] for chunk, spans in (inside or {}).items()}
    ledger = stage.done(engine="local", model=backends.encoder.version, preview=preview or f"{len(hits)} chunks")
    ranked = [{"chunk_id": h.chunk_id, "score": h.score} for h in hits]
    return {"hits": ranked, "copies": found.copies, "evidence": evidence, "because": because, "ledger": ledger}
