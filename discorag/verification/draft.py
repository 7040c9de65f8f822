"""The sentences of a draft, and where an answer goes after they were verified."""

import re
from typing import Literal

from discorag.ingest.segment.sentence_table import folded
from discorag.schema.answer import Answer, AnswerInputs, AnswerSentence
from discorag.schema.values import amount
from discorag.text.citations import without_references
from discorag.text.sentences import sentence_spans
from discorag.verification.statements import StatementIndex, cited_chunks, plan_with_steps, quoted_evidence

_HASHES = re.compile(r"^\s*#{1,6}\s+")
_ENDING = re.compile(r"[.!?。！？…][\"'”’)\]」』]*\s*$")

Next = Literal["refine", "abstain", "end"]


def next_step(answer: Answer, rounds: int, *, may_abstain: bool) -> tuple[Next, str]:
    """Where an answer goes after verification, and why.

    ``rounds`` are the rounds of refinement that are left. ``may_abstain``: whether to withhold an answer if its sources
    support none of its sentences.
    """
    if rounds:
        return "refine", f"{amount(rounds, 'rounds')} left"
    if may_abstain and len(answer.unsupported) == len(answer.sentences):
        return "abstain", "The documents support no sentence of the answer that was written."
    return "end", "the answer is verified"


def unverified_answer(inputs: AnswerInputs, draft: str, reason: str) -> Answer:
    """The draft as an answer in which no sentence is verified, for the same ``reason``."""
    graph = inputs.statements
    index = StatementIndex(graph) if graph else None
    sentences: list[AnswerSentence] = []
    for drafted in drafted_sentences(draft, len(inputs.chunks)):
        text, cited = without_references(drafted, chunks=len(inputs.chunks)).strip(), cited_chunks(drafted, inputs)
        told = index.told_by(text, cited) if index else ()
        evidence = tuple(quoted_evidence(inputs, told, cited))
        numbers = tuple(s.number for s in told)
        sentences.append(AnswerSentence(text=text, reason=reason, evidence=evidence, statements=numbers))
    return Answer(query=inputs.query, sentences=tuple(sentences), statements=graph, plan=plan_with_steps(inputs))


def is_heading(sentence: str, inputs: AnswerInputs) -> bool:
    """Whether a sentence, without citations, is a heading in a passage or in the draft, so that it asserts nothing."""
    bare = _HASHES.sub("", sentence)
    if bare != sentence and not _ENDING.search(bare):
        return True
    units = [chunk.slice(span) for chunk in inputs.chunks for span in chunk.sentences]
    named = (h for c in inputs.chunks for h in (c.title, *c.headings))
    headings = {folded(_HASHES.sub("", h)) for h in (*named, *filter(_HASHES.match, units))}
    statements = {folded(u) for u in units if _ENDING.search(u) and not _HASHES.match(u)}
    return folded(bare) in headings - statements


def drafted_sentences(draft: str, chunks: int) -> list[str]:
    """The sentences of a draft with their citations; a sentence that is only citations is left out."""
    sentences = (span.of(line) for line in draft.splitlines() for span in sentence_spans(line))
    return [s for s in sentences if without_references(s, chunks=chunks).strip(" .。")]
