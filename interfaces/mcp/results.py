"""What the tools return: data, and answers and audits also as Markdown, in which texts are escaped as in chat."""

from typing import Self

from langchain_core.documents import Document as LangChainDocument
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from discorag.conflicts.verdicts import Finding
from discorag.generation.views import answer_markdown
from discorag.schema.ledger import Failure
from discorag.schema.values import Region
from discorag.text.escaping import markdown
from interfaces.audit import AuditReport
from interfaces.results import AskResult, NumberedAnswer
from interfaces.views.audit import summary

_SPAN = "Characters of the document's canonical text, which read_document gives."


class Hit(BaseModel):
    """A passage that was found."""

    doc_id: str = Field(description="The document's id, as the other tools take it.")
    title: str
    start: int = Field(description=_SPAN)
    end: int = Field(description=_SPAN)
    page: int | None = Field(default=None, description="Its page, where the document has pages.")
    regions: list[Region] = Field(default=[], description="The boxes of its lines on the pages of a PDF.")
    text: str
    headings: list[str] = Field(description="The headings above it, outermost first.")
    score: float = Field(description="Higher is better; not comparable between questions.")

    @classmethod
    def of_document(cls, document: LangChainDocument) -> Self:
        """The hit from a retriever's document."""
        return cls(text=document.page_content, **document.metadata)


class DocumentPart(BaseModel):
    """A part of a document's canonical text: ``start`` and ``total`` are in characters."""

    doc_id: str
    title: str
    start: int
    total: int
    text: str


class AuditFindings(BaseModel):
    """Where the documents of a corpus disagree, best first, without what a reader has settled."""

    corpus: str
    total: int = Field(description="Open findings; the first are listed.")
    findings: tuple[Finding, ...]


class AnswerOutput(NumberedAnswer):
    """An answer, each sentence with its sources; or why there is none."""

    failures: tuple[Failure, ...] = Field(description="What a language model failed to do, and what was used instead.")
    seconds: float


class Hits(BaseModel):
    """What was found for a question, best first."""

    passages: list[Hit]


def result(text: str, structured: BaseModel) -> CallToolResult:
    """A tool's result in both forms."""
    content = TextContent(type="text", text=text)
    return CallToolResult(content=[content], structured_content=structured.model_dump(mode="json"))


def answer_result(found: AskResult) -> CallToolResult:
    """An answer with its sources and disagreements, and what a language model did not do."""
    output = AnswerOutput.numbered(found.answer, failures=found.ledger.failures, seconds=found.seconds)
    return result("".join(answer_markdown(found.answer)).strip(), output)


def audit_result(report: AuditReport, limit: int) -> CallToolResult:
    """The summary of an audit and its first open findings."""
    lines, found = [summary(report)], report.open[:limit]
    for f in found:
        sides = " / ".join(f"{markdown(s.title, 80)}: “{markdown(s.quote)}”" for s in (f.left, f.right))
        lines.append(f"- {f.verdict} ({f.tier}): {markdown(f.reason)} {sides}")
    return result("\n".join(lines), AuditFindings(corpus=report.corpus, total=len(report.open), findings=found))
