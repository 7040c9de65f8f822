"""rerank: the order of what was found, and how much of it a language model reads."""

import asyncio
from collections.abc import Sequence

from langgraph.runtime import Runtime

from discorag.models.packaged import language_warning
from discorag.models.reranker import Reranker
from discorag.retrieval.width import KEPT
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def rerank(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Order the chunks by how well they answer, if the options say so.

    By default a language model reads the best of them, in the documents' order. If the reranker cannot read the
    language, the order of the search decides which are best.
    """
    context, stage = await answer_context(state, runtime), Stage("rerank")
    if not context.rerank:
        return {"ledger": stage.done(engine="off")}
    inputs, reranker = await load_inputs(state, context), (await context.open_backends()).reranker
    is_default = context.preset == "written"
    if is_default and not await asyncio.to_thread(_can_read, reranker.version, inputs):
        hits, engine, model = [*state.get("hits", [])], "off", ""
    else:
        hits, engine, model = await _ordered(inputs, reranker), "local", reranker.version
    kept = _best(hits, stage) if is_cut(context) else hits[: context.top_k]
    if is_default:
        kept = _by_document(kept, inputs.chunks)
    preview = f"{len(kept)} of {len(hits)} chunks"
    return {"hits": kept, "ledger": stage.done(engine=engine, model=model, preview=preview)}


def is_cut(context: AnswerContext) -> bool:
    """Whether more chunks are searched for than are read.

    The verbatim engines read sentences and are to answer in the time of a few searches; to rerank 40 chunks would take
    longer than all else that they do. Baselines and papers read a fixed number.
    """
    return context.preset == "written" and context.rerank and context.top_k is None


def _can_read(reranker: str, inputs: AnswerInputs) -> bool:
    """Whether a reranker knows the language of the question and of the passages, as far as is known."""
    texts = (inputs.query, "\n".join(chunk.text for chunk in inputs.chunks))
    return not any(language_warning(text, [reranker]) for text in texts)


async def _ordered(inputs: AnswerInputs, reranker: Reranker) -> list[Json]:
    """The hits by the reranker's scores, best first."""
    scores = await reranker.scores(inputs.query, [chunk.text for chunk in inputs.chunks])
    ranked = sorted(zip(scores, inputs.chunks, strict=True), key=lambda pair: -pair[0])
    return [{"chunk_id": chunk.id, "score": score} for score, chunk in ranked]


def _best(hits: list[Json], stage: Stage) -> list[Json]:
    """The hits that are read."""
    kept = hits[:KEPT]
    stage.counts = {"candidates": len(hits), "kept": len(kept)}
    stage.record_route("parse", f"{len(kept)} of {len(hits)} chunks are read")
    return kept


def _by_document(hits: Sequence[Json], chunks: Sequence[Chunk]) -> list[Json]:
    """The documents in the order of their best hits, the hits of each in the order of its text."""
    places = {chunk.id: (chunk.doc_id, chunk.order) for chunk in chunks}
    first: dict[str, int] = {}
    for rank, hit in enumerate(hits):
        first.setdefault(places[hit["chunk_id"]][0], rank)

    def place(hit: Json) -> tuple[int, int]:
        doc_id, order = places[hit["chunk_id"]]
        return first[doc_id], order

    return sorted(hits, key=place)
