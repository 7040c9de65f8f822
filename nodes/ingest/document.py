"""One document from the disk into the store: load > structure > segment > parse > embed > store > build_tree.

A plain pipeline. The first step that fails ends the document, and what is stored of it stays.
"""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from langgraph.config import get_stream_writer

from discorag.discourse.parse.parser import PROMPTED
from discorag.ingest.loaders import converter_version, reading_note
from discorag.ingest.segment.chunks import SPLITTER_VERSION, chunk_id, cut_chunks
from discorag.ingest.segment.headings import build_hierarchy
from discorag.ingest.segment.sentence_table import with_sentence_vectors
from discorag.ingest.survey import DocumentOutcome, Status
from discorag.models.packaged import language_warning
from discorag.retrieval.registry import tree_retriever
from discorag.retrieval.search import tree_index
from discorag.schema.document import Chunk, Scope
from discorag.schema.errors import DiscoRagError, InputError, ModelError, StoreError, StoreFullError
from discorag.schema.ledger import Failure, StageRecord
from discorag.schema.values import fingerprint
from discorag.store.records import NOT_MADE, Manifest
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

    def settle(self, status: Status, **more: Any) -> None:
        """Say what became of the document, now and in the result; ``more``: further fields of the outcome."""
        outcome = DocumentOutcome(uri=self.uri, status=status, **more).model_dump(mode="json")
        self.outcomes.append(outcome)
        get_stream_writer()({"event": "document", **outcome})


async def ingest_document(uri: str, context: IngestContext) -> Json:
    """Bring one document into the store, and build its tree: its outcome and ledger as an update of the graph.

    Raises:
        StoreFullError: No other document could be stored either.
    """
    run = Run(uri, context, await context.open_backends(), await context.scope())
    try:
        doc_id = await store_document(run)  # what it read is freed: building the tree takes as much memory
        await build_tree(doc_id, run)
    except _DocumentFailedError:
        pass
    return {"outcomes": run.outcomes, "ledger": run.ledger}


async def store_document(run: Run) -> str:
    """Read, cut, parse, encode and store the document, unless it is stored like that already; its id."""
    backends, reading = run.backends, run.backends.settings.reading
    with run.step("load", InputError):
        document = await backends.reader.read(Path(run.uri))
        document = document.model_copy(update={"uri": run.context.uri or document.uri})
        (doc_id,) = await asyncio.to_thread(backends.store.ids_at, run.scope, [document.uri])
        versions = await asyncio.to_thread(_versions, run)
        key = fingerprint(document.content_hash, versions)
        stored = await asyncio.to_thread(backends.store.manifest, run.scope, doc_id)
    if stored and stored.fingerprint == key and not run.context.refresh:
        run.settle(Status.UNCHANGED, unread=document.unread)
        return doc_id
    with run.step("structure", InputError):  # each sentence costs time and memory, however short
        hierarchy = await asyncio.to_thread(build_hierarchy, document, reading.max_sentences)
    with run.step("segment"):
        chunks = await asyncio.to_thread(
            cut_chunks,
            document,
            hierarchy,
            scope=run.scope,
            fingerprint=key,
            counter=backends.encoder.tokens,
            chunk_tokens=reading.chunk_tokens,
        )
    chunks, parser = await parse(chunks, run)
    if parser != versions["parser"]:
        versions = versions | {"parser": parser}
        key = fingerprint(document.content_hash, versions)
    chunks = [c.model_copy(update={"doc_id": doc_id, "id": chunk_id(doc_id, key, c.order)}) for c in chunks]
    with run.step("embed", ModelError, model=backends.encoder.version):
        vectors = await backends.encoder.encode_documents([c.text for c in chunks])
        if backends.encodes_sentences or versions["parser"] != NOT_MADE:
            chunks = await with_sentence_vectors(chunks, backends.encoder)
    manifest = Manifest(
        doc_id=doc_id,
        uri=document.uri,
        title=document.title,
        content_hash=document.content_hash,
        text_hash=document.text_hash,
        file_hash=document.file_hash,
        file_bytes=document.file_bytes,
        fingerprint=key,
        versions=versions,
        chunks=len(chunks),
        written=datetime.now(UTC).replace(microsecond=0),
        unread=document.unread,
    )
    with run.step("upsert", StoreError):
        try:
            await asyncio.to_thread(backends.store.put, run.scope, document, manifest, chunks, vectors)
        except StoreFullError:  # no other document could be stored either
            raise
        except (StoreError, OSError) as error:
            hint = "Check the store; run it again."
            raise StoreError(f"{document.title} could not be stored: {error}.", hint=hint) from error
        warning = await asyncio.to_thread(language_warning, document.text, [backends.encoder.version])
    note = " ".join(filter(None, (reading_note(document), warning)))
    status = Status.REPLACED if stored else Status.ADDED
    run.settle(status, chunks=len(chunks), note=note, unread=document.unread)
    return doc_id


def _versions(run: Run) -> dict[str, str]:
    """Version of every stage that shapes what is stored of the document; a change in any makes it stale. Blocks."""
    settings, engine = run.backends.settings, run.backends.parser_name(run.context.parser)
    splitter = (SPLITTER_VERSION, str(settings.reading.chunk_tokens), settings.encoder.tokenizer)
    return {
        "converter": converter_version(Path(run.uri).suffix),
        "splitter": "/".join(filter(None, splitter)),
        "parser": NOT_MADE if engine == NOT_MADE else run.backends.parser(engine).version,
        "summariser": NOT_MADE,
        "encoder": run.backends.encoder.version,
    }


async def parse(chunks: list[Chunk], run: Run) -> tuple[list[Chunk], str]:
    """The chunks with their RST trees, and the version of what made them.

    Where the llm engine fails on a chunk, the local engine's tree is used instead, and the version says so.
    """
    engine = run.backends.parser_name(run.context.parser)
    if engine == NOT_MADE:
        run.record(StageRecord(stage="parse", engine="off"))
        return chunks, NOT_MADE
    stage = Stage("parse")
    parser, local = [await asyncio.to_thread(run.backends.parser, name) for name in (engine, "local")]
    turns = asyncio.Semaphore(len(chunks) if engine == PROMPTED else AT_ONCE)

    async def with_tree(chunk: Chunk) -> Chunk:
        async with turns:
            return chunk.model_copy(update={"tree": await stage.parse(chunk, parser, local)})

    parsed = await asyncio.gather(*map(with_tree, chunks))
    run.ledger += stage.finish_batch(len(chunks), engine=engine, model=parser.version)
    return parsed, parser.version + (FALLBACK if stage.failures else "")


async def build_tree(doc_id: str, run: Run) -> None:
    """Build the retrieval tree that questions will need. If that fails, the first question builds it."""
    context, backends = run.context, run.backends
    retriever = tree_retriever(context.retriever)
    if retriever is None:
        run.record(StageRecord(stage="build_tree", engine="off"))
        return
    stage, engine = Stage("build_tree"), backends.parser_name(context.parser)
    parser = backends.settings.parser.kind if engine == NOT_MADE else engine
    try:
        tools = await asyncio.to_thread(backends.tree_tools, parser)
        index = await asyncio.to_thread(tree_index, retriever, tools, backends.store, run.scope)
        await index.ensure([doc_id])
        stage.record_trees(index.built)
    except DiscoRagError as error:
        stage.failed(error, fallback=LATER)
    except OSError as error:
        full = StoreError(f"The tree of {run.uri} could not be stored: {error}.", hint="Check the disk.")
        stage.failed(full, fallback=LATER)
    run.ledger += stage.done(engine="local", model=backends.encoder.version)
