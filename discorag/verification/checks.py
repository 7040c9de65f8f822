"""Looks up the quotations, figures, dates and names of a written sentence in its sources, without a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from discorag.schema.answer import AnswerInputs, Support
from discorag.schema.document import Chunk
from discorag.schema.statements import Quotation
from discorag.text.cues import stems
from discorag.verification.guards import Detail, missing_details

_SHOWN = 3
"""Most missing details that a reason names."""
_LEAST_SHARED = 2
"""Least stems that a sentence shares with a quotation on its subject, apart from what is missing and was asked."""


@dataclass(frozen=True)
class Check:
    """The result of a check: the details that no source has, or the quotation that adds a source which has them."""

    missing: tuple[Detail, ...] = ()
    repair: Quotation | None = None

    @property
    def support(self) -> Support:
        """The state of the sentence."""
        return Support.CHECK if self.missing else Support.CITED

    @property
    def reason(self) -> str:
        """A sentence that names what is missing or which citation was added; empty if neither is so."""
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
        if len(about & stems(quotation.text)) >= _LEAST_SHARED:
            own = [quotation.text, titles[quotation.chunk_id]]
            lacks = missing_details(sentence, own, question=inputs.query)
            if not set(missing) & set(lacks) and not any(detail.kind == "name" for detail in lacks):
                yield quotation
