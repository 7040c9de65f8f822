"""What the tools say, as Markdown: as chat is, with what sources and models wrote escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

from discorag.generation.answer_view import answer_markdown
from discorag.ingest.survey import Status
from discorag.schema.answer import Answer
from discorag.text.escaping import code_block, markdown
from interfaces.facade import AskResult
from interfaces.mcp.shapes import Answered, Corpora, Disagreements, Documents, Hits, Ingested, Outcome, Trees

NO_DISAGREEMENT = "Among the passages that bear on this question no disagreement was found."


def result(text: str, structured: BaseModel, *, failed: bool = False) -> CallToolResult:
    """A tool's result in both forms."""
    content = TextContent(type="text", text=text)
    return CallToolResult(content=[content], structured_content=structured.model_dump(mode="json"), is_error=failed)


def answered(found: AskResult) -> CallToolResult:
    """An answer with its sources and disagreements, and what a language model did not do."""
    return result("".join(answer_markdown(found.answer)).strip(), Answered.to(found))


def disagreements(answer: Answer) -> CallToolResult:
    """The disagreements of an answer alone."""
    text = "".join(answer_markdown(answer.model_copy(update={"sentences": ()}))).strip()
    return result(text or NO_DISAGREEMENT, Disagreements.of(answer.disagreements))


def hits(found: Hits) -> CallToolResult:
    """The passages, numbered."""
    lines = [
        f"{i}. {markdown(p.title, 80)} (document {p.doc_id}, characters {p.start}-{p.end}): “{markdown(p.text)}”"
        for i, p in enumerate(found.passages, start=1)
    ]
    return result("\n".join(lines) or "Nothing was found.", found)


def corpora(found: Corpora) -> CallToolResult:
    """The corpora, one a line."""
    lines = [f"- {markdown(c.name, 200)} ({c.documents} documents, {c.chunks} chunks)" for c in found.corpora]
    return result("\n".join(lines) or "Nothing is stored.", found)


def documents(found: Documents) -> CallToolResult:
    """The documents, one a line."""
    lines = [
        f"- {d.doc_id}: {markdown(d.title, 80)} ({markdown(d.name, 80)}, {d.chunks} chunks)" for d in found.documents
    ]
    return result("\n".join([f"{len(lines)} of {found.total} documents.", *lines]), found)


def trees(found: Trees) -> CallToolResult:
    """The trees as they are, as a block of code."""
    return result(code_block(found.trees), found)


def ingested(outcomes: Sequence[Outcome]) -> CallToolResult:
    """How many of which fate, and why those that have a note; an error where a document failed."""
    counts = Counter(o.status or "being read" for o in outcomes)
    line = ", ".join(f"{n} {status}" for status, n in counts.items()) or "Nothing to do"
    notes = [f"- {o.status} {markdown(o.name, 200)}: {markdown(o.note, 400)}" for o in outcomes if o.note]
    failed = any(o.status == Status.FAILED for o in outcomes)
    return result("\n".join([f"{line}.", *notes]), Ingested(outcomes=list(outcomes)), failed=failed)
