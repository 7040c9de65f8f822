"""Drafts before and after verification: their sentences, those that cite summaries, and what happens next.

RAPTOR and HTSIR let summaries reach the reader (RAPTOR section 3, HTSIR "Reranking and Response Generation"). Here a
summary is not a source, so a sentence that cites one is compared with the chunks below it.
"""

import asyncio
import re
from collections import defaultdict
from dataclasses import replace
from functools import cache, partial
from typing import Literal

from discorag.conflicts.stored import stored_disagreements
from discorag.generation.narrowing import narrow
from discorag.ingest.segment.sentence_table import folded
from discorag.schema.answer import Answer, AnswerInputs, AnswerSentence, Known, Outcome
from discorag.schema.discourse import Plan, RhetoricalGraph
from discorag.schema.document import Chunk, Scope
from discorag.schema.values import Span
from discorag.store.store import Store
from discorag.text.citations import references, renumber, without_references
from discorag.text.sentences import sentence_spans
from discorag.verification.verifier import Verifier

_HASHES = re.compile(r"^\s*#{1,6}\s+")
_ENDING = re.compile(r"[.!?。！？…][\"'”’)\]」』]*\s*$")

Next = Literal["refine", "abstain", "end"]
UNSUPPORTED = "The documents support no sentence of the answer that was written."


def next_step(answer: Answer, rounds: tuple[int, int], *, may_abstain: bool) -> tuple[Next, str]:
    """Where an answer goes after verification, and why. Sentences that are not verified are shown as such.

    ``rounds`` are the rounds of refinement so far, and those requested; 0 if no language model wrote the draft.
    ``may_abstain``: whether to withhold an answer if no source supports any of its sentences.
    """
    done, requested = rounds
    if done < requested:
        return "refine", f"round {done + 1} of {requested}"
    if may_abstain and len(answer.unsupported) == len(answer.sentences):
        return "abstain", UNSUPPORTED
    return "end", "the answer is verified"


def unverified_answer(inputs: AnswerInputs, draft: str, reason: str) -> Answer:
    """Return the draft's sentences, none of them verified, for the same ``reason``."""
    k = len(inputs.chunks)
    texts = [without_references(s, chunks=k).strip() for s in drafted_sentences(draft, k)]
    return Answer(
        query=inputs.query, sentences=tuple(AnswerSentence(text=t, reason=reason) for t in texts), plan=inputs.plan
    )


def is_heading(sentence: str, inputs: AnswerInputs) -> bool:
    """Whether a sentence without its citations is a heading, of a passage or of the draft's own: it asserts nothing."""
    bare = _HASHES.sub("", sentence)
    if bare != sentence and not _ENDING.search(bare):
        return True
    units = [chunk.slice(span) for chunk in inputs.chunks for span in chunk.sentences]
    named = (h for c in inputs.chunks for h in (c.title, *c.headings))
    headings = {folded(_HASHES.sub("", h)) for h in (*named, *filter(_HASHES.match, units))}
    statements = {folded(u) for u in units if _ENDING.search(u) and not _HASHES.match(u)}
    return folded(bare) in headings - statements


def drafted_sentences(draft: str, chunks: int) -> list[str]:
    """The sentences of a draft, citations included, without those that are nothing else."""
    sentences = (span.of(line) for line in draft.splitlines() for span in sentence_spans(line))
    return [s for s in sentences if without_references(s, chunks=chunks).strip(" .。")]


async def trace_draft(
    verifier: Verifier, inputs: AnswerInputs, draft: str, store: Store, scope: Scope
) -> Outcome[Answer]:
    """The verifier's answer; every span in it is of a document, also where the draft cites summaries.

    With a graph it also has the disagreements of its sources that the last audit of the corpus found.

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
    """Inputs and draft in which cited summaries (all, if nothing is cited) give way to the chunks below them; blocks.

    References are then to whole chunks. Relations of a summary to other passages are left out, since a summary has no
    place in a document.
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
