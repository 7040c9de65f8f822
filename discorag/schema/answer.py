"""The answer: sentences that each carry their evidence, and the disagreements between sources."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict

from discorag.schema.chunk import Chunk
from discorag.schema.chunk_relations import ChunkRelation
from discorag.schema.notebook import Drawn
from discorag.schema.plan import Plan
from discorag.schema.span import Span


class EvidenceSpan(BaseModel, frozen=True):
    """A stretch of a source: ``text`` equals the document's canonical text at ``span``.

    ``page`` is the one-based page on which it starts, None where the source has no pages; ``also_in``, the names of
    other files with the same content.

    Example:
        >>> from discorag.schema.answer import EvidenceSpan
        >>> from discorag.schema.span import Span
        >>> span = Span(start=9, end=32)
        >>> EvidenceSpan(chunk_id="c1", doc_id="d1", title="Tides", span=span, text=span.of(document.text)).text
        'The moon pulls the sea.'
    """

    chunk_id: str
    doc_id: str
    title: str
    span: Span
    text: str
    page: int | None = None
    also_in: tuple[str, ...] = ()

    @classmethod
    def of(cls, chunk: Chunk, span: Span) -> Self:
        """The stretch ``span`` of a chunk, in document offsets."""
        return cls(
            chunk_id=chunk.id,
            doc_id=chunk.doc_id,
            title=chunk.title,
            span=span,
            text=chunk.slice(span),
            page=chunk.page_at(span.start),
            also_in=chunk.also_in,
        )


class Support(StrEnum):
    """What the verifier found out about a sentence. All views show these words."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"
    NOT_VERIFIED = "not verified"


class AnswerSentence(BaseModel):
    """One sentence of the answer, and whether the sources support it.

    Args:
        text: Without citations.
        support: What the verifier found out.
        evidence: Where a supported sentence stands; for one that is not verified, the places to compare it with: the
            closest of each chunk that it cites, else the closest of all. Empty if it is not supported.
        step: Index of the plan step that it carries out, None where no step matches.
        reason: Why it has this state, in one plain sentence: it is quoted, something is missing, nothing checked it.
        confidence: Probability that it is supported, from the model that judged it; None if none did.

    Example:
        >>> from discorag.schema.answer import AnswerSentence, Support
        >>> AnswerSentence(text="The moon is cheese.", support=Support.NOT_SUPPORTED).supported
        False
    """

    model_config = ConfigDict(frozen=True)

    text: str
    support: Support = Support.NOT_VERIFIED
    evidence: tuple[EvidenceSpan, ...] = ()
    step: int | None = None
    reason: str = ""
    confidence: float | None = None

    @property
    def supported(self) -> bool:
        """Whether a source supports the sentence."""
        return self.support is Support.SUPPORTED


class Kind(StrEnum):
    """What two sentences at odds differ in."""

    FIGURE = "figure"
    DATE = "date"
    POLARITY = "polarity"
    CONDITION = "condition"
    SPEAKER = "speaker"


class Difference(BaseModel):
    """One thing that two sentences say otherwise, in the words of each; empty where one of them has none.

    Example:
        >>> from discorag.schema.answer import Difference, Kind
        >>> found = Difference(kind=Kind.CONDITION, a="In adults", b="everyone")
        >>> f"{found.kind}: {found.a} / {found.b}"
        'condition: In adults / everyone'
    """

    model_config = ConfigDict(frozen=True)

    kind: Kind
    a: str
    b: str


class Disagreement(BaseModel):
    """Two sources at odds, with the sentence of each that shows it; REPLACES: ``b`` is a newer version of ``a``.

    ``differs`` says in what, as far as that is known; ``confidence`` is that of the edge of the rhetorical graph, 0 to
    1, None where the engine gives none.

    Example:
        >>> from discorag.schema.answer import Disagreement, EvidenceSpan
        >>> from discorag.schema.chunk_relations import ChunkRelation
        >>> a, b = (EvidenceSpan.model_validate(chunk.model_dump() | {"chunk_id": chunk.id}) for chunk in inputs.chunks)
        >>> found = Disagreement(relation=ChunkRelation.CONTRADICTS, a=a, b=b)
        >>> f"{found.a.title} {found.relation} {found.b.title}"
        'trial.md CONTRADICTS review.md'
    """

    model_config = ConfigDict(frozen=True)

    relation: ChunkRelation
    a: EvidenceSpan
    b: EvidenceSpan
    differs: tuple[Difference, ...] = ()
    confidence: float | None = None


NO_ANSWER = "The documents do not answer this."
NOT_SURE = "Not sure that the documents answer this. Closest passages:"


class Answer(Drawn, BaseModel):
    """A verified answer; or none, where ``abstained`` says why, and ``nearest`` what the documents say instead.

    ``answerable`` is the probability that the evidence answers the question; None where it is not known. Between a
    refusal and an answer an answer is ``unsure``: its sentences are the closest passages, and shown as such.

    ``notes`` say what a language model was asked for and did not do, and why, a sentence each: what others wrote may
    be quoted in them.

    Example:
        >>> from discorag.schema.answer import Answer, AnswerSentence
        >>> answer = Answer(query="Why?", sentences=(AnswerSentence(text="The moon pulls."),))
        >>> answer.text, len(answer.unverified), len(answer.unsupported)
        ('The moon pulls.', 1, 0)
    """

    model_config = ConfigDict(frozen=True)

    query: str
    sentences: tuple[AnswerSentence, ...]
    disagreements: tuple[Disagreement, ...] = ()
    plan: Plan | None = None
    notes: tuple[str, ...] = ()
    abstained: str = ""
    answerable: float | None = None
    unsure: bool = False
    nearest: tuple[EvidenceSpan, ...] = ()

    @property
    def text(self) -> str:
        """The sentences as running text; `NO_ANSWER` where it abstained."""
        return NO_ANSWER if self.abstained else " ".join(s.text for s in self.sentences)

    @property
    def unsupported(self) -> tuple[AnswerSentence, ...]:
        """The sentences that the sources do not support."""
        return self._with(Support.NOT_SUPPORTED)

    @property
    def unverified(self) -> tuple[AnswerSentence, ...]:
        """The sentences that nothing checked."""
        return self._with(Support.NOT_VERIFIED)

    def _with(self, support: Support) -> tuple[AnswerSentence, ...]:
        return tuple(s for s in self.sentences if s.support is support)
