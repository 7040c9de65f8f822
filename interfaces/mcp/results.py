"""What the tools return: texts as they are for programs, and the same as Markdown for readers.

As in chat, what sources and models wrote is escaped in the Markdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from langchain_core.documents import Document as LangChainDocument
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from discorag.conflicts.verdicts import Finding
from discorag.generation.views import answer_markdown
from discorag.ingest.survey import Status
from discorag.schema.answer import Answer, Disagreement
from discorag.schema.ledger import Failure
from discorag.text.escaping import code_block, markdown
from interfaces.audit import AuditReport
from interfaces.results import AskResult, Corpora, Documents, NumberedAnswer
from interfaces.views.audit import summary

NO_DISAGREEMENT = "Among the passages that bear on this question no disagreement was found."
_ID = "The document's id, as the other tools and the resources take it."
_SPAN = "Characters of the document's canonical text, which the resource of the document gives."


class Hit(BaseModel):
    """A passage that was found."""

    doc_id: str = Field(description=_ID)
    title: str
    start: int = Field(description=_SPAN)
    end: int = Field(description=_SPAN)
    page: int | None = Field(default=None, description="Its page, where the document has pages.")
    text: str
    headings: list[str] = Field(description="The headings above it, outermost first.")
    score: float = Field(description="Higher is better; scores of different questions do not compare.")

    @classmethod
    def of_document(cls, document: LangChainDocument) -> Hit:
        """The hit that a retriever returned as a document."""
        return cls(text=document.page_content, **document.metadata)


class AuditFindings(BaseModel):
    """Where the documents of a corpus disagree, best first, without what a reader has settled."""

    corpus: str
    total: int = Field(description="Open findings; the first are listed.")
    findings: tuple[Finding, ...]


class Disagreements(BaseModel):
    """Where the sources that bear on a question contradict each other."""

    disagreements: tuple[Disagreement, ...]


class AnswerOutput(NumberedAnswer):
    """An answer, each sentence with its sources; or why there is none."""

    failures: tuple[Failure, ...] = Field(description="What a language model failed to do, and what was used instead.")
    seconds: float


class Hits(BaseModel):
    """What was found for a question, best first."""

    passages: list[Hit]


class Trees(BaseModel):
    """RST trees of some chunks of a document."""

    doc_id: str = Field(description=_ID)
    title: str
    chunks: list[int] = Field(description="Numbers of the chunks that are shown, from 0.")
    total: int = Field(description="Chunks of the document.")
    format: str
    trees: str = Field(description="The trees in this format.")


class Outcome(BaseModel):
    """What became of a document; ``status`` is None while it is being read."""

    doc_id: str = Field(description=_ID)
    name: str
    status: str | None
    chunks: int
    note: str = Field(description="Why it failed, was skipped or is a duplicate.")


class IngestOutput(BaseModel):
    """What became of every document."""

    outcomes: list[Outcome]


def result(text: str, structured: BaseModel, *, failed: bool = False) -> CallToolResult:
    """A tool's result in both forms."""
    content = TextContent(type="text", text=text)
    return CallToolResult(content=[content], structured_content=structured.model_dump(mode="json"), is_error=failed)


def answer_result(found: AskResult) -> CallToolResult:
    """An answer with its sources and disagreements, and what a language model did not do."""
    output = AnswerOutput.numbered(found.answer, failures=found.ledger.failures, seconds=found.seconds)
    return result("".join(answer_markdown(found.answer)).strip(), output)


def disagreements_result(answer: Answer) -> CallToolResult:
    """The disagreements of an answer alone."""
    text = "".join(answer_markdown(answer.model_copy(update={"sentences": ()}))).strip()
    return result(text or NO_DISAGREEMENT, Disagreements(disagreements=answer.disagreements))


def audit_result(report: AuditReport, limit: int) -> CallToolResult:
    """The summary of an audit and its first open findings."""
    lines, found = [summary(report)], report.open[:limit]
    for f in found:
        sides = " / ".join(f"{markdown(s.title, 80)}: “{markdown(s.quote)}”" for s in (f.left, f.right))
        lines.append(f"- {f.verdict} ({f.tier}): {markdown(f.reason)} {sides}")
    return result("\n".join(lines), AuditFindings(corpus=report.corpus, total=len(report.open), findings=found))


def hits_result(found: Hits) -> CallToolResult:
    """The passages, numbered."""
    lines = [
        f"{i}. {markdown(p.title, 80)} (document {p.doc_id}, characters {p.start}-{p.end}): “{markdown(p.text)}”"
        for i, p in enumerate(found.passages, start=1)
    ]
    return result("\n".join(lines) or "Nothing was found.", found)


def corpora_result(found: Corpora) -> CallToolResult:
    """The corpora, one a line."""
    lines = [f"- {markdown(c.name, 200)} ({c.documents} documents, {c.chunks} chunks)" for c in found.corpora]
    return result("\n".join(lines) or "Nothing is stored.", found)


def documents_result(found: Documents) -> CallToolResult:
    """The documents, one a line."""
    lines = [
        f"- {d.doc_id}: {markdown(d.title, 80)} ({markdown(d.name, 80)}, {d.chunks} chunks)" for d in found.documents
    ]
    return result("\n".join([f"{len(lines)} of {found.total} documents.", *lines]), found)


def trees_result(found: Trees) -> CallToolResult:
    """The trees as they are, as a block of code."""
    return result(code_block(found.trees), found)


def ingest_result(outcomes: Sequence[Outcome]) -> CallToolResult:
    """How many of which fate, and why those that have a note; an error where a document failed."""
    counts = Counter(o.status or "being read" for o in outcomes)
    line = ", ".join(f"{n} {status}" for status, n in counts.items()) or "Nothing to do"
    notes = [f"- {o.status} {markdown(o.name, 200)}: {markdown(o.note, 400)}" for o in outcomes if o.note]
    failed = any(o.status == Status.FAILED for o in outcomes)
    return result("\n".join([f"{line}.", *notes]), IngestOutput(outcomes=list(outcomes)), failed=failed)
