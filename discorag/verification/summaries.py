"""Drafts that cite summaries of documents: the text below the summaries replaces them.

RAPTOR and HTSIR let summaries reach the reader (RAPTOR section 3, HTSIR "Reranking and Response Generation"). Here a
summary is not a source, so a sentence that cites one is compared with the chunks below it.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from discorag.generation.narrowing import narrow
from discorag.schema.answer import AnswerInputs, Known
from discorag.schema.discourse import Plan, RhetoricalGraph
from discorag.schema.document import Chunk, Scope
from discorag.schema.values import Span
from discorag.store.store import Store
from discorag.text.citations import references, renumber


def replace_summaries(inputs: AnswerInputs, draft: str, store: Store, scope: Scope) -> tuple[AnswerInputs, str]:
    """Inputs and draft with the chunks below the cited summaries instead of the summaries; blocks.

    If nothing is cited, all summaries are replaced. References are then to whole chunks. Relations of a summary to
    other passages are left out, since a summary has no place in a document. A summary whose document was deleted or
    replaced meanwhile has nothing below it.
    """
    with store.database.read():
        stored = store.stored_chunks(scope, [chunk.id for chunk in inputs.chunks if chunk.stands_for])
        return _replace_summaries(inputs, draft, {i: store.chunks_of(scope, c.doc_id) for i, c in stored.items()})


def _replace_summaries(inputs: AnswerInputs, draft: str, texts: Mapping[str, list[Chunk]]) -> tuple[AnswerInputs, str]:
    """`replace_summaries`, with the chunks of each summary's document."""
    cited = {r.chunk for r in references(draft)} or set(range(1, len(inputs.chunks) + 1))
    found, parts, below = dict[str, Chunk](), defaultdict[str, list[Span]](list), dict[int, list[str]]()
    for number, chunk in enumerate(inputs.chunks, start=1):
        if number in cited or not chunk.stands_for:
            own = texts.get(chunk.id, []) if chunk.stands_for else [chunk]
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
