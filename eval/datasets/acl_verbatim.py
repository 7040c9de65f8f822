"""ACL-Verbatim (arXiv 2605.21102): evidence spans in chunks of papers, for queries that retrieved them."""

from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span, digest
from eval.datasets.reading import TextBuilder, read_lines
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument


class _Span(BaseModel):
    start: int
    end: int
    text: str


class _Row(BaseModel):
    query: str = Field(pattern=r"\S")
    paper_id: str
    chunk_index: int
    chunk: str = Field(pattern=r"\S")
    gold_spans: tuple[_Span, ...]


def load_acl_verbatim(path: Path) -> Benchmark:
    """One question a row, over the row's chunk; a row without gold spans is not answerable. For evaluation only.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off or lacks a field, or a gold span differs from the chunk's text.
    """
    documents: dict[str, SourceDocument] = {}
    samples: list[Sample] = []
    for place, row in read_lines(_Row, path):
        builder = TextBuilder()
        builder.add(row.chunk)
        name = digest(row.chunk)[:12]
        documents[name] = builder.document(name, f"{row.paper_id} {row.chunk_index}")
        spans = [_in_document(row, span, place) for span in row.gold_spans]
        samples.append(
            Sample(
                id=f"{digest(row.query)[:8]}-{name}",
                query=row.query.strip(),
                documents=(name,),
                gold=tuple(Gold(label="span", anywhere=(DocSpan(doc=name, span=span),)) for span in spans),
                answerable=bool(spans),
            )
        )
    return Benchmark(name="acl-verbatim", documents=documents, samples=tuple(samples))


def _in_document(row: _Row, span: _Span, place: str) -> Span:
    """A gold span in the canonical text, which lacks white space at the chunk's ends."""
    if row.chunk[span.start : span.end] != span.text:
        raise DataError(f"{place}: a gold span differs from the chunk's text.", hint="Fetch the official file again.")
    lead = len(row.chunk) - len(row.chunk.lstrip())
    length = len(row.chunk.strip())
    return Span(start=max(0, span.start - lead), end=min(length, span.end - lead))
