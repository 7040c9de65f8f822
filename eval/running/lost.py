"""Where was it lost: for each piece of gold evidence, the stage at which the pipeline let go of it."""

from __future__ import annotations

from collections.abc import Sequence

from discorag.schema.discourse import Reference
from discorag.schema.document import Chunk
from discorag.schema.values import Span
from discorag.text.citations import references
from eval.metrics.grounding import reached
from eval.running.corpus import Corpus
from eval.running.record import Lost, Stage
from eval.sample import DocSpan, Gold, Sample

Places = tuple[DocSpan, ...]


def cited(text: str, chunks: Sequence[Chunk], corpus: Corpus) -> Places:
    """The stretches that ``text`` cites as ``[chunk]``, ``[chunk.unit]`` or ``[chunk.first-last]``.

    Args:
        text: A plan or a draft.
        chunks: The retrieved chunks, best first, with trees only where the run used them.
        corpus: To name documents.
    """
    found = (r for r in references(text) if r.chunk <= len(chunks))
    return tuple(place for r in found if (place := _place(r, chunks[r.chunk - 1], corpus)))


def trace(
    sample: Sample,
    *,
    corpus: Corpus,
    chunks: Sequence[Chunk],
    plan: str | None,
    draft: str,
    used: Places,
) -> tuple[Lost, ...]:
    """The gold evidence that the answer does not rest on, each with the stage that lost it.

    Args:
        sample: With its gold evidence.
        corpus: What was searched.
        chunks: The retrieved chunks, best first, with trees only where the run used them.
        plan: The plan's paragraph; None if there was no plan.
        draft: The answer with its citations.
        used: What the verified sentences rest on.
    """
    retrieved = tuple(corpus.place(c) for c in chunks)
    planned = retrieved if plan is None else cited(plan, chunks, corpus)
    drafted = cited(draft, chunks, corpus)
    return tuple(
        Lost(label=gold.label, stage=_stage(gold, corpus, retrieved, planned, drafted))
        for gold in sample.gold
        if not reached(gold, used)
    )


def _stage(gold: Gold, corpus: Corpus, retrieved: Places, planned: Places, drafted: Places) -> Stage:
    if not any(g.doc in corpus.stored for g in gold.anywhere):
        return "missing"
    if not reached(gold, retrieved):
        return "retrieve"
    if reached(gold, drafted):
        return "verify"
    return "generate" if reached(gold, planned) else "plan"


def _place(reference: Reference, chunk: Chunk, corpus: Corpus) -> DocSpan | None:
    if reference.first is None:
        return corpus.place(chunk)
    units = chunk.sentences[reference.first - 1 : reference.last]
    if not units:
        return None
    return DocSpan(doc=corpus.known[chunk.doc_id], span=Span(start=units[0].start, end=units[-1].end))
