"""One document from the disk into the store: load > structure > segment > parse > embed > store > build_tree.

A plain pipeline: each step adds its part to the document. The first step that fails ends the
document, and what is stored of it stays.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

from langgraph.config import get_stream_writer

from discorag.discourse.parse.parser import PROMPTED
from discorag.ingest.loaders import Source, reading_note
from discorag.ingest.segment.chunks import cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.sentence_table import with_sentence_vectors
from discorag.ingest.survey import NOT_MADE, DocumentOutcome, IngestedDocument, Status, manifest_of, rekey, versions
from discorag.models.packaged import language_warning
from discorag.retrieval.registry import tree_retriever
from discorag.retrieval.search import tree_index
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk, Scope
from discorag.schema.errors import (
    DiscoRagError,
    DocumentTooLargeError,
    InputError,
    ModelError,
    StoreError,
    StoreFullError,
)
from discorag.schema.ledger import Failure, StageRecord
from nodes.backends import Backends
from nodes.context import IngestContext
from nodes.stage import Stage
from nodes.state import Json

AT_ONCE = 1
"""Chunks of a document that wait for a local parser at once, so that other documents get their turn."""
FALLBACK = "+fallback"  # marks trees that the chosen engine could not make: the next ingest tries again
LATER = "the first question builds it"


class _DocumentFailedError(Exception):
    """The document goes no further; why is in its records."""


@dataclass
class Run:
    """What the steps of one document have in common, and the records they leave."""

    uri: str
    context: IngestContext
    backends: Backends
    scope: Scope
    outcomes: list[Json] = field(default_factory=list[Json])
    ledger: list[Json] = field(default_factory=list[Json])

    @contextmanager
    def step(self, stage: str, *failures: type[DiscoRagError], model: str = "") -> Generator[None]:
        """Time a step and record it; one of these failures settles the document, a full disk ends the ingest."""
        start = perf_counter()
        failed: tuple[Failure, ...] = ()
        try:
            yield
        except StoreFullError:
            raise
        except failures as error:
            failed = (Failure.of(stage, error),)
            self.settle(Status.FAILED, note=str(error))
            raise _DocumentFailedError from error
        finally:
            self.record(StageRecord(stage=stage, model=model, seconds=perf_counter() - start, failures=failed))

    def record(self, record: StageRecord) -> None:
        """Add a step to the ledger."""
        self.ledger.append(record.model_dump(mode="json"))

    def settle(self, status: Status, *, chunks: int = 0, note: str = "") -> None:
        """Say what became of the document, now and in the result."""
        outcome = DocumentOutcome(uri=self.uri, status=status, chunks=chunks, note=note).model_dump(mode="json")
        self.outcomes.append(outcome)
        get_stream_writer()({"event": "document", **outcome})


async def ingest_document(uri: str, context: IngestContext) -> Json:
    """Bring one document into the store, and build its tree: its outcome and ledger as an update of the graph.

    Raises:
        StoreFullError: No other document could be stored either.
    """
    run = Run(uri, context, await context.open_backends(), await context.scope())
    try:
        document = await load(run)
        if document.unchanged:
            run.settle(Status.UNCHANGED)
        else:
            await structure(document, run)
            await segment(document, run)
            await parse(document, run)
            await embed(document, run)
            await store(document, run)
        doc_id = document.manifest.doc_id
        del document  # of a long one, chunks and vectors take as much memory as building its tree
        await build_tree(doc_id, run)
    except _DocumentFailedError:
        pass
    return {"outcomes": run.outcomes, "ledger": run.ledger}


async def load(run: Run) -> IngestedDocument:
    """Read the document, and find out how it has to be stored and whether it is stored like that already."""
    context, backends, uri = run.context, run.backends, run.uri
    with run.step("load", InputError):
        document = await backends.reader.read(Source(Path(uri), uri), again=context.refresh)
        engine = context.tree_engine(backends)
        parser = NOT_MADE if engine == NOT_MADE else backends.parser(engine).version
        stages = versions(uri, backends.settings, parser=parser, encoder=backends.encoder.version)
        manifest = manifest_of(document, run.scope, stages)
        stored = await asyncio.to_thread(backends.store.manifest, run.scope, manifest.doc_id)
        unchanged = bool(stored and stored.fingerprint == manifest.fingerprint and not context.refresh)
        return IngestedDocument(document, manifest, replaces=stored is not None, unchanged=unchanged)


async def structure(document: IngestedDocument, run: Run) -> None:
    """Add sections, paragraphs and sentences; too many fail: each costs time and memory, however short."""
    with run.step("structure", DocumentTooLargeError):
        most = run.backends.settings.reading.max_sentences
        document.hierarchy = await asyncio.to_thread(build_hierarchy, document.document, most)


async def segment(document: IngestedDocument, run: Run) -> None:
    """Add the chunks, which fit the encoder."""
    assert document.hierarchy is not None
    with run.step("segment"):
        document.chunks = await asyncio.to_thread(
            cut_chunks,
            document.document,
            document.hierarchy,
            scope=run.scope,
            fingerprint=document.manifest.fingerprint,
            counter=run.backends.encoder.tokens,
            chunk_tokens=run.backends.settings.reading.chunk_tokens,
        )


async def parse(document: IngestedDocument, run: Run) -> None:
    """Add an RST tree to every chunk; where the llm engine fails on one, the local engine's tree is used instead."""
    engine = run.context.tree_engine(run.backends)
    if engine == NOT_MADE:
        run.record(StageRecord(stage="parse", engine="off"))
        return
    stage, parser, local = Stage("parse"), run.backends.parser(engine), run.backends.parser("local")
    turns = asyncio.Semaphore(len(document.chunks) if engine == PROMPTED else AT_ONCE)

    async def tree_of(chunk: Chunk) -> RstTree:
        async with turns:
            return await stage.parse(chunk, parser, local)

    trees = await asyncio.gather(*map(tree_of, document.chunks))
    document.chunks = [c.model_copy(update={"tree": t}) for c, t in zip(document.chunks, trees, strict=True)]
    if stage.failures:
        rekey(document, {**document.manifest.versions, "parser": parser.version + FALLBACK})
    run.ledger += stage.finish_batch(len(document.chunks), engine=engine, model=parser.version)


async def embed(document: IngestedDocument, run: Run) -> None:
    """Add a vector for every chunk, and for every sentence of each."""
    with run.step("embed", ModelError, model=run.backends.encoder.version):
        document.vectors = await run.backends.encoder.encode_documents([c.text for c in document.chunks])
        document.chunks = await with_sentence_vectors(document.chunks, run.backends.encoder)


async def store(document: IngestedDocument, run: Run) -> None:
    """Store the document whole; its manifest is written last."""
    read, chunks, vectors = document.document, document.chunks, document.vectors
    assert vectors is not None
    written = datetime.now(UTC).replace(microsecond=0)
    manifest = document.manifest.model_copy(update={"chunks": len(chunks), "written": written})
    with run.step("upsert", StoreError):
        try:
            await asyncio.to_thread(run.backends.store.put, run.scope, read, manifest, chunks, vectors)
        except StoreFullError:  # no other document could be stored either
            raise
        except (StoreError, OSError) as error:
            hint = "Check the store; run it again."
            raise StoreError(f"{read.title} could not be stored: {error}.", hint=hint) from error
        warning = await asyncio.to_thread(language_warning, read.text, [run.backends.encoder.version])
    note = " ".join(filter(None, (reading_note(read), warning)))
    run.settle(Status.REPLACED if document.replaces else Status.ADDED, chunks=len(chunks), note=note)


async def build_tree(doc_id: str, run: Run) -> None:
    """Build the retrieval tree that questions will need. If that fails, the first question builds it."""
    context, backends = run.context, run.backends
    retriever = tree_retriever(context.retriever)
    if retriever is None:
        run.record(StageRecord(stage="build_tree", engine="off"))
        return
    stage, engine = Stage("build_tree"), context.tree_engine(backends)
    parser = backends.settings.parser.kind if engine == NOT_MADE else engine
    try:
        index = tree_index(retriever, backends.tree_tools(parser), backends.store, run.scope)
        await index.ensure([doc_id])
        stage.record_trees(index.built)
    except DiscoRagError as error:
        stage.failed(error, fallback=LATER)
    except OSError as error:
        full = StoreError(f"The tree of {run.uri} could not be stored: {error}.", hint="Check the disk.")
        stage.failed(full, fallback=LATER)
    run.ledger += stage.done(engine="local", model=backends.encoder.version)
