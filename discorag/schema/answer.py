"""Answers: what the engines of a question read and return, and the verified sentences with their evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, Literal, Self, TypeVar, cast

from pydantic import BaseModel, Field, computed_field

from discorag.schema.discourse import ChunkRelation, Plan, RhetoricalGraph
from discorag.schema.document import Chunk
from discorag.schema.errors import Usage
from discorag.schema.ledger import Failure
from discorag.schema.statements import StatementGraph
from discorag.schema.values import Region, Span

T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")
Detail = Literal["enough", "full"]
JudgeName = Literal["auto", "llm"]
"""What judges whether a source supports a sentence: an NLI model if one is configured, or the language model."""
Known = dict[str, tuple[tuple[Chunk, ...], Any]]
"""Name -> chunks, and a value that was computed from them."""


@dataclass(frozen=True, kw_only=True)
class AnswerInputs:
    """A question, its evidence, and the results of earlier stages. Structures that are switched off are None.

    Args:
        query: The user's question.
        instruction: How the user wants it answered (format, length, options); the local engines do not read it.
        detail: ``enough``: the local engines stop when a sentence adds nothing; ``full``: they say everything relevant.
        chunks: Retrieved chunks in the order in which they are read; number i in prompts and plans is
            ``chunks[i - 1]``. They have no trees if trees are switched off.
        statements: What a language model found that the passages say; None if it did not.
        graph: The rhetorical graph; None before the stage that makes it.
        plan: The plan; None before the stage that makes it.
        turns: A language model's earlier turns, verbatim, by stage (``hint``).
        known: Values that stages computed from chunks, by name, for later stages to reuse.
    """

    query: str
    chunks: tuple[Chunk, ...]
    instruction: str = ""
    detail: Detail = "enough"
    statements: StatementGraph | None = None
    graph: RhetoricalGraph | None = None
    plan: Plan | None = None
    turns: dict[str, str] = field(default_factory=dict[str, str])
    known: Known = field(default_factory=Known, compare=False, repr=False)

    def number(self, chunk_id: str) -> int:
        """One-based number of a chunk; ``ValueError`` if it is not among them."""
        return [c.id for c in self.chunks].index(chunk_id) + 1


@dataclass(frozen=True, kw_only=True)
class Outcome(Generic[T_co]):
    """What an engine returns: a value, the verbatim text of a language model's turn, and the cost.

    ``counts`` are further figures for the ledger, by name. ``failures`` say what is wrong with a value that is used
    nevertheless, for example that it was cut off.
    """

    value: T_co
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str = ""
    failures: tuple[Failure, ...] = ()
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def holding(self, value: U) -> Outcome[U]:
        """The same outcome with another value, derived from the first."""
        return replace(cast("Outcome[Any]", self), value=value)


class EvidenceSpan(BaseModel, frozen=True):
    """A stretch of a source: ``text`` equals the document's canonical text at ``span``.

    ``title`` is the document's title, preceded by the end of its path if another document has the same title. ``page``
    is the one-based page on which the stretch starts; None if the source has no pages. ``regions`` are the boxes of its
    lines there, for PDF. ``also_in`` are the names of other files with the same content.
    """

    chunk_id: str
    doc_id: str
    title: str
    span: Span
    text: str
    page: int | None = None
    regions: tuple[Region, ...] = ()
    also_in: tuple[str, ...] = ()
    is_context: bool = Field(
        default=False,
        description="Whether it is a heading, header row, speaker or neighbour that the sentence is quoted with.",
    )

    @classmethod
    def of(cls, chunk: Chunk, span: Span, *, is_context: bool = False) -> Self:
        """The stretch ``span`` of a chunk, in document offsets."""
        return cls(
            chunk_id=chunk.id,
            doc_id=chunk.doc_id,
            title=chunk.source or chunk.title,
            span=span,
            text=chunk.slice(span),
            page=chunk.page_at(span.start),
            regions=chunk.regions_at(span),
            also_in=chunk.also_in,
            is_context=is_context,
        )


class Support(StrEnum):
    """The verifier's result for a sentence. Views show the words of `PROBLEMS` only.

    ``quoted``: a source has it word for word. ``cited``: its quotations, figures, dates and names are in its sources,
    or it has none. ``check``: one of them is in none of its sources. ``supported`` and ``not supported``: what a judge,
    if there is one, says of a sentence that would be ``cited``.
    """

    QUOTED = "quoted"
    CITED = "cited"
    CHECK = "check"
    SUPPORTED = "supported"
    NOT_SUPPORTED = "not supported"


PROBLEMS = (Support.CHECK, Support.NOT_SUPPORTED)
"""The states that views show, with the reason."""
CHECKED = "Quotations, figures, dates and names were checked against the sources; the meaning was not judged."
JUDGED = "Quotations, figures, dates and names were checked against the sources; a model judged the meaning."


class Citation(BaseModel, frozen=True):
    """A place in a sentence at which it cites a chunk.

    Args:
        at: How many characters of its text stand before it.
        chunk_id: The chunk.
    """

    at: int = Field(ge=0)
    chunk_id: str


class AnswerSentence(BaseModel, frozen=True):
    """One sentence of the answer, and whether the sources support it.

    Args:
        text: Without citations.
        citations: Where it cites the chunks of its evidence, in order, as a model wrote it.
        support: The verifier's result.
        evidence: The quotations of the statements that it tells, in the passages that it cites; else its words in the
            source, the places that a judge names, or the closest place in each cited chunk, or the closest of all.
        step: Index of the plan step that it carries out, the main one if there are several; None if no step matches.
        statements: Numbers of the statements that it tells.
        reason: Why it has this state, in plain sentences; empty if there is nothing to say.
        confidence: The judging model's probability that it is supported; None without such a model.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    support: Support = Support.CITED
    evidence: tuple[EvidenceSpan, ...] = ()
    step: int | None = None
    statements: tuple[int, ...] = ()
    reason: str = ""
    confidence: float | None = None

    @property
    def supported(self) -> bool:
        """Whether a source has its words, or a judge found that one supports it."""
        return self.support in (Support.QUOTED, Support.SUPPORTED)

    @property
    def is_problem(self) -> bool:
        """Whether views mark the sentence."""
        return self.support in PROBLEMS


class Disagreement(BaseModel, frozen=True):
    """Two sources that disagree, with a sentence of each. REPLACES: ``b`` is a newer version of ``a``.

    Args:
        relation: CONTRADICTS, CONTRASTS_WITH or REPLACES.
        a: What one source says.
        b: What the other source says.
        reason: Why, in one plain sentence, or in what, if the engine knows it.
        favoured: The side that other facts favour, so that the answer follows it; None if nothing decides.
        statements: Numbers of the statements of both sides; empty if the relation is not one between statements.
    """

    relation: ChunkRelation
    a: EvidenceSpan
    b: EvidenceSpan
    reason: str = ""
    favoured: Literal["a", "b"] | None = None
    statements: tuple[int, ...] = ()


class Namesake(BaseModel, frozen=True):
    """Two things of the same name, which sources speak of.

    Args:
        a: What a source says about one of them.
        b: What a source says about the other.
        reason: How the other one differs, in a few words.
        statements: Numbers of the statements of both sides.
    """

    a: EvidenceSpan
    b: EvidenceSpan
    reason: str = ""
    statements: tuple[int, ...] = ()


NO_ANSWER = "The documents do not answer this."
NOT_SURE = "Not sure that the documents answer this. Closest passages:"


class Answer(BaseModel, frozen=True):
    """A verified answer, or a refusal: then ``abstained`` says why, and ``nearest`` are the closest passages.

    ``answerable`` is the probability that the evidence answers the question; None if it is not known. If the answer is
    ``unsure``, its sentences are the closest passages, and shown as such.

    ``statements`` are what the passages say on the question, and how these points relate; None if no engine collected
    statements. ``namesakes`` are things of the same name, which is not a disagreement.

    Each of the ``notes`` says in one sentence what a language model was asked for and did not do, and why. Notes may
    quote documents and models.
    """

    query: str
    sentences: tuple[AnswerSentence, ...]
    disagreements: tuple[Disagreement, ...] = ()
    namesakes: tuple[Namesake, ...] = ()
    statements: StatementGraph | None = None
    plan: Plan | None = None
    notes: tuple[str, ...] = ()
    abstained: str = ""
    answerable: float | None = None
    unsure: bool = False
    nearest: tuple[EvidenceSpan, ...] = ()

    @property
    def text(self) -> str:
        """The sentences as running text; `NO_ANSWER` if it abstained."""
        return NO_ANSWER if self.abstained else " ".join(s.text for s in self.sentences)

    @property
    def problems(self) -> tuple[AnswerSentence, ...]:
        """The sentences that views mark."""
        return tuple(s for s in self.sentences if s.is_problem)

    @computed_field
    @property
    def checked(self) -> str:
        """What was checked of an answer that a model wrote, in one sentence; empty for an answer of quotations."""
        states = {s.support for s in self.sentences}
        if states <= {Support.QUOTED}:
            return ""
        return JUDGED if states & {Support.SUPPORTED, Support.NOT_SUPPORTED} else CHECKED
