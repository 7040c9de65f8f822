"""A benchmark's documents in the store: written as files, ingested by the ingest graph, ids mapped both ways."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from discorag import DiscoRAG
from discorag.discourse.parse.parser import PROMPTED
from discorag.ingest.loaders import load
from discorag.ingest.survey import Status
from discorag.schema.errors import DiscoRagError, Usage
from discorag.schema.values import Span, digest
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, SourceDocument
from interfaces.facade import Progress


@dataclass(frozen=True)
class Corpus:
    """An ingested benchmark.

    Args:
        name: Corpus in the store.
        stored: Document id of the benchmark -> id in the store.
        known: The reverse.
        failures: Trees that the suite's parser could not make at ingest: the local parser's are used instead.
        usage: What a language model that parses took at this ingest.
    """

    name: str
    stored: Mapping[str, str]
    known: Mapping[str, str]
    failures: int = 0
    usage: Usage = field(default_factory=Usage)

    def place(self, doc_id: str, span: Span) -> DocSpan:
        """A span of a document of the store, in the benchmark's terms."""
        return DocSpan(doc=self.known[doc_id], span=span)


async def ingest(
    rag: DiscoRAG,
    benchmark: Benchmark,
    home: Path,
    progress: Progress | None = None,
    *,
    parser: str = "local",
    refresh: bool = False,
) -> Corpus:
    """Write the documents below ``home`` and ingest them; unchanged ones are neither written nor ingested again.

    Each parser's trees make a corpus of their own, and those of each language model that parses. ``refresh`` ingests
    unchanged documents too.

    Raises:
        DataError: A document could not be ingested, or its canonical text would differ from the benchmark's.
    """
    name = f"{benchmark.name}-{_digest(benchmark)[:8]}" + (f"-{parser}" if parser != "local" else "")
    if parser == PROMPTED:
        name += f"-{digest(rag.backends.require_model('parser').name)[:8]}"
    folder = home / "documents" / name
    files = await asyncio.to_thread(_write, benchmark.documents, folder)
    result = await rag.aingest(
        folder, corpus=name, parser=parser, retriever="dense", progress=progress, refresh=refresh
    )
    for outcome in result.outcomes:
        if outcome.status in (Status.FAILED, Status.SKIPPED, Status.DUPLICATE):
            raise DataError(
                f"{benchmark.name}: {Path(outcome.uri).name} was not ingested: {outcome.note}", hint="Check the data."
            )
    ids = {Path(m.uri).name: m.doc_id for m in rag.documents(corpus=name)}
    stored = {doc: ids[file] for file, doc in files.items()}
    known = {v: k for k, v in stored.items()}
    return Corpus(
        name=name, stored=stored, known=known, failures=len(result.ledger.failures), usage=result.ledger.usage
    )


def _digest(benchmark: Benchmark) -> str:
    return digest(json.dumps([(d.id, d.title, digest(d.text)) for d in benchmark.documents.values()]))


def _write(documents: Mapping[str, SourceDocument], folder: Path) -> dict[str, str]:
    """File name -> document id. Files of other documents are removed, so that the folder is the corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {_file(d): d for d in documents.values()}
    for stale in (p for p in folder.iterdir() if p.name not in files):
        stale.unlink()
    for name, document in files.items():
        path, content = folder / name, document.text.encode()
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
        _check(document, path)
    return {name: d.id for name, d in files.items()}


def _file(document: SourceDocument) -> str:
    """A readable name that is unique: the title is what a prompt shows of a document without headings."""
    readable = re.sub(r"[^\w.-]+", "-", document.title).strip("-.")[:40] or "document"
    suffix = ".md" if document.text.startswith("# ") else ".txt"
    return f"{readable}-{digest(document.id + document.text)[:12]}{suffix}"


def _check(document: SourceDocument, path: Path) -> None:
    try:
        text = load(path, max_bytes=10**9).text
    except DiscoRagError as error:
        raise DataError(f"Document {document.id}: {error}", hint="Check the data.") from error
    if text != document.text:
        raise DataError(
            f"Document {document.id} changes when it is read: offsets would not hold.",
            hint="Its loader must give canonical text.",
        )
