"""Drafts that cite summaries of documents: they are traced to the text below the summaries.

RAPTOR and HTSIR let summaries reach the reader (RAPTOR section 3, HTSIR "Reranking and Response Generation"). Here a
summary is not a source, so a sentence that cites one is compared with the chunks below it.
"""

import asyncio
from collections import defaultdict
from dataclasses import replace
from functools import cache, partial

from discorag.conflicts.stored import stored_disagreements
from discorag.generation.narrowing import narrow
from discorag.schema.answer import Answer, AnswerInputs, Known, Outcome
from discorag.schema.discourse import Plan, RhetoricalGraph
from discorag.schema.document import Chunk, Scope
from discorag.schema.values import Span
from discorag.store.store import Store
from discorag.text.citations import references, renumber
from discorag.verification.tracing import TracingVerifier


async def trace_draft(
    verifier: TracingVerifier, inputs: AnswerInputs, draft: str, store: Store, scope: Scope
) -> Outcome[Answer]:
    """The verifier's answer. Its evidence is always text of documents, even if the draft cites summaries.

    With a graph, the answer also has disagreements between its sources that the last audit of the corpus found.

    Raises:
        ModelError: A model of the verifier failed.
        NotFoundError: A document was deleted or replaced meanwhile.
    """
    if any(chunk.stands_for for chunk in inputs.chunks):
        below, draft = await asyncio.to_thread(replace_summaries, inputs, draft, store, scope)
        outcome = await verifier.verify(below, draft)
        outcome = outcome.holding(outcome.value.model_copy(update={"plan": inputs.plan}))
    else:
        outcome = await verifier.verify(inputs, draft)
    if inputs.graph is None:
        return outcome
    answer = outcome.value
    evidence = [e for sentence in answer.sentences for e in sentence.evidence]
    stored = await asyncio.to_thread(stored_disagreements, evidence, store, scope)
    known = {frozenset((d.a.chunk_id, d.b.chunk_id)) for d in answer.disagreements}
    others = [d for d in stored if frozenset((d.a.chunk_id, d.b.chunk_id)) not in known]
    return outcome.holding(answer.model_copy(update={"disagreements": (*answer.disagreements, *others)}))


def replace_summaries(inputs: AnswerInputs, draft: str, store: Store, scope: Scope) -> tuple[AnswerInputs, str]:
    """Inputs and draft with the chunks below the cited summaries instead of the summaries; blocks.

    If nothing is cited, all summaries are replaced. References are then to whole chunks. Relations of a summary to
    other passages are left out, since a summary has no place in a document.
    """
    cited = {r.chunk for r in references(draft)} or set(range(1, len(inputs.chunks) + 1))
    chunks_of = cache(partial(store.chunks_of, scope))
    found, parts, below = dict[str, Chunk](), defaultdict[str, list[Span]](list), dict[int, list[str]]()
    for number, chunk in enumerate(inputs.chunks, start=1):
        if number in cited or not chunk.stands_for:
            own = chunks_of(chunk.doc_id) if chunk.stands_for else [chunk]
            spans = chunk.stands_for or chunk.sentences
            inside = [c for c in own if any(s.start < c.span.end and c.span.start < s.end for s in spans)]
            below[number] = [c.id for c in inside]
            for c in inside:
                found[c.id] = c if chunk.stands_for else found.get(c.id, c)
                parts[c.id] += spans
    ids, graph = tuple(found), inputs.graph
    numbers = {number: [ids.index(i) + 1 for i in inside] for number, inside in below.items()}
    edges = tuple(e for e in graph.edges if {e.source, e.target} <= set(ids)) if graph else ()
    replaced = replace(
        inputs,
        chunks=tuple(narrow(chunk, parts[i]) for i, chunk in found.items()),
        graph=RhetoricalGraph(chunks=ids, edges=edges) if graph else None,
        plan=Plan(paragraph=renumber(inputs.plan.paragraph, numbers)) if inputs.plan else None,
        known=Known(),
    )
    return replaced, renumber(draft, numbers)
