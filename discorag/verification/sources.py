"""Answers that were written from summaries, traced to the documents: a summary's place is taken by what it is of.

RAPTOR and HTSIR let summaries reach the reader (RAPTOR section 3, HTSIR "Reranking and Response Generation"); here a
summary is no source, so a sentence that cites one is held against the chunks below it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial

from discorag.generation.compression import narrowed
from discorag.schema.answer import Answer
from discorag.schema.answer_inputs import AnswerInputs, Known
from discorag.schema.chunk import Chunk
from discorag.schema.document import Scope
from discorag.schema.graph import RhetoricalGraph
from discorag.schema.plan import Plan
from discorag.schema.span import Span
from discorag.store.store import Store
from discorag.text.citations import references, renumbered
from discorag.verification.verifier import Verifier


async def traced(verifier: Verifier, inputs: AnswerInputs, draft: str, store: Store, scope: Scope) -> Answer:
    """The verifier's answer; every span in it is of a document, also where the draft cites summaries.

    Raises:
        ModelError: A model of the verifier failed.
        NotFoundError: A document was deleted or replaced meanwhile.
    """
    if not any(chunk.stands_for for chunk in inputs.chunks):
        return await verifier.verify(inputs, draft)
    below, draft = await asyncio.to_thread(sourced, inputs, draft, store, scope)
    answer = await verifier.verify(below, draft)
    return answer.model_copy(update={"plan": inputs.plan})


def sourced(inputs: AnswerInputs, draft: str, store: Store, scope: Scope) -> tuple[AnswerInputs, str]:
    """Inputs and draft with chunks of documents in place of cited summaries (of all, where nothing is cited); blocks.

    References are to whole chunks then. Relations of a summary to other passages are left out: they have no two
    places in documents.
    """
    cited = {r.chunk for r in references(draft)} or set(range(1, len(inputs.chunks) + 1))
    chunks_of = cache(partial(store.chunks_of, scope))
    found, parts, held = dict[str, Chunk](), defaultdict[str, list[Span]](list), dict[int, list[str]]()
    for number, chunk in enumerate(inputs.chunks, start=1):
        if number in cited or not chunk.stands_for:
            own = chunks_of(chunk.doc_id) if chunk.stands_for else [chunk]
            spans = chunk.stands_for or chunk.sentences
            inside = [c for c in own if any(s.start < c.span.end and c.span.start < s.end for s in spans)]
            held[number] = [c.id for c in inside]
            for c in inside:
                found[c.id] = c if chunk.stands_for else found.get(c.id, c)
                parts[c.id] += spans
    chunks = tuple(narrowed(chunk, parts[i]) for i, chunk in found.items())
    at = {i: number for number, i in enumerate(found, start=1)}
    numbers = {number: [at[i] for i in ids] for number, ids in held.items()}
    return _moved(inputs, chunks, numbers), renumbered(draft, numbers)


def _moved(inputs: AnswerInputs, chunks: tuple[Chunk, ...], numbers: Mapping[int, list[int]]) -> AnswerInputs:
    ids, graph = tuple(chunk.id for chunk in chunks), inputs.graph
    edges = tuple(e for e in graph.edges if {e.source, e.target} <= set(ids)) if graph else ()
    return replace(
        inputs,
        chunks=chunks,
        graph=RhetoricalGraph(chunks=ids, edges=edges) if graph else None,
        plan=Plan(paragraph=renumbered(inputs.plan.paragraph, numbers)) if inputs.plan else None,
        known=Known(),
    )
