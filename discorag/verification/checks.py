"""Whether the sources of a written sentence have its quotations, figures, dates and names; no model is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discorag.schema.answer import Answer, AnswerInputs, AnswerSentence, Support
from discorag.schema.document import Chunk
from discorag.schema.statements import Quotation
from discorag.text.citations import references, without_references
from discorag.text.cues import stems
from discorag.verification.draft import drafted_sentences
from discorag.verification.guards import Detail, missing_details
from discorag.verification.statements import StatementIndex, cited_chunks, plan_with_steps, quoted_evidence

_SHOWN = 3
"""Missing details that a reason names."""
_LEAST_SHARED = 2
"""Stems that a sentence shares with a quotation on its subject, besides what is missing and what was asked."""


@dataclass(frozen=True)
class Check:
    """What a check found: the details that no source has, and the quotation that adds a source which has them."""

    missing: tuple[Detail, ...] = ()
    repair: Quotation | None = None

    @property
    def support(self) -> Support:
        """The state of the sentence."""
        return Support.CHECK if self.missing else Support.CITED

    @property
    def reason(self) -> str:
        """What is missing, or which citation was added."""
        if self.repair:
            return f"The citation of “{self.repair.text}” was added, since it has what the cited passages lack."
        details = [str(detail) for detail in self.missing[:_SHOWN]]
        return f"In none of its sources: {', '.join(details)}." if details else ""


def check_sentence(sentence: str, cited: set[int], inputs: AnswerInputs) -> Check:
    """Look up the details of a sentence, which has no citations, in the passages that it cites.

    If it cites none, all passages are its sources. A detail that only another passage has counts if that passage's
    quotation in a statement has both the detail and what the sentence is about.
    """
    texts = [_text(chunk) for chunk in inputs.chunks]
    sources = [text for n, text in enumerate(texts, start=1) if n in cited] or texts
    missing = missing_details(sentence, sources, question=inputs.query, passages=texts)
    repair = next(_repairs(sentence, missing, inputs), None) if missing else None
    return Check(repair=repair) if repair else Check(tuple(missing))


def _text(chunk: Chunk) -> str:
    """A passage with all that it is labelled with when a model reads it."""
    labels = (chunk.source, chunk.title, *chunk.headings, *chunk.byline, chunk.columns)
    return "\n".join(filter(None, dict.fromkeys((*labels, chunk.text))))


def _repairs(sentence: str, missing: Sequence[Detail], inputs: AnswerInputs) -> Iterator[Quotation]:
    """The quotations of statements that have all missing details, and names and subject of the sentence."""
    titles = {chunk.id: chunk.title for chunk in inputs.chunks}
    about = stems(sentence) - stems("\n".join([inputs.query, *(detail.text for detail in missing)]))
    statements = inputs.statements.statements if inputs.statements else ()
    for quotation in (q for statement in statements for q in statement.quotations if q.chunk_id in titles):
        own = [quotation.text, titles[quotation.chunk_id]]
        lacks = missing_details(sentence, own, question=inputs.query)
        is_there = not set(missing) & set(lacks) and not any(detail.kind == "name" for detail in lacks)
        if is_there and len(about & stems(quotation.text)) >= _LEAST_SHARED:
            yield quotation


def check_draft(inputs: AnswerInputs, draft: str) -> Answer:
    """The draft as an answer whose sentences were checked without a model: their evidence are quotations, if any."""
    graph = inputs.statements
    index = StatementIndex(graph) if graph else None
    sentences: list[AnswerSentence] = []
    for text in drafted_sentences(draft, len(inputs.chunks)):
        bare, cited = without_references(text, chunks=len(inputs.chunks)).strip(), cited_chunks(text, inputs)
        found = check_sentence(bare, {r.chunk for r in references(text)}, inputs)
        told = index.told_by(bare, cited) if index else ()
        sentences.append(
            AnswerSentence(
                text=bare,
                support=found.support,
                evidence=tuple(quoted_evidence(inputs, told, cited)),
                statements=tuple(s.number for s in told),
                reason=found.reason,
            )
        )
    return Answer(query=inputs.query, sentences=tuple(sentences), statements=graph, plan=plan_with_steps(inputs))
