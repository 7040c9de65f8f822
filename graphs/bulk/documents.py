"""An ingest in which the actors of a pool read the documents: scan here, each document there, sweep here."""

# LangGraph leaves its own generics open:
# pyright: reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from langgraph.config import get_stream_writer
from langgraph.graph import END, START, StateGraph

from discorag.ingest.survey import DocumentOutcome, Status
from discorag.store.protocol import Manifest
from discorag.types.errors import DiscoRagError
from discorag.types.ledger import Failure, Ledger, StageRecord
from graphs.answer import Graph
from graphs.bulk.actors import Actors
from graphs.bulk.pool import Work
from graphs.facade import DiscoRAG, IngestResult
from graphs.ingest import read_document
from nodes.context import IngestContext
from nodes.ingest.scan import scan
from nodes.ingest.sweep import sweep
from nodes.results import ledger_of
from nodes.state import DocumentOutput, IngestInput, IngestOutput, IngestState, Json

BLOCK_BYTES, BLOCK_DOCUMENTS = 16_000, 16
"""What an actor is given at once at most, if it is more than one document: seconds of work."""


async def ingest_with(
    actors: Actors, rag: DiscoRAG, path: str, progress: Callable[[Json], None], **switches: Any
) -> IngestResult:
    """As `DiscoRAG.aingest`. What is stored unchanged is not stored again, so a run that was cut off goes on.

    Args:
        actors: Over the store of ``rag``.
        rag: The pipeline of this process.
        path: A file, a folder, or ``s3://bucket/prefix``.
        progress: Called with every progress event.
        **switches: Fields of `IngestContext`.

    Raises:
        InputError: As `DiscoRAG.aingest`.
        EngineError: Ray cannot go on.
        StoreFullError: There is no more room in the store.
    """
    context, start = rag.context(IngestContext, switches), perf_counter()
    state: Json = {}
    stream = _build(actors, rag, switches).astream({"path": path}, context=context, stream_mode=["custom", "values"])
    async for mode, part in stream:
        if mode == "custom":
            progress(cast("Json", part))
        else:
            state = cast("Json", part)
    outcomes = tuple(DocumentOutcome.model_validate(o) for o in state["outcomes"])
    return IngestResult(outcomes=outcomes, ledger=ledger_of(state["ledger"]), seconds=perf_counter() - start)


def _build(actors: Actors, rag: DiscoRAG, switches: Mapping[str, Any]) -> Graph:
    def documents(state: IngestState) -> Json:
        return _read(actors, rag, switches, state.get("files", []))

    steps = StateGraph(IngestState, context_schema=IngestContext, input_schema=IngestInput, output_schema=IngestOutput)
    steps.add_node("scan", scan)
    steps.add_node("documents", documents)
    steps.add_node("sweep", sweep)
    steps.add_edge(START, "scan")
    steps.add_edge("scan", "documents")
    steps.add_edge("documents", "sweep")
    steps.add_edge("sweep", END)
    return steps.compile(name="ingest", checkpointer=False)


def _read(actors: Actors, rag: DiscoRAG, switches: Mapping[str, Any], uris: Iterable[str]) -> Json:
    """All documents, in the order in which they are done; what they cost is added up as it comes."""
    tell, outcomes, ledger = get_stream_writer(), list[Json](), Ledger()
    scope = {name: switches.get(name) for name in ("tenant", "corpus")}
    before = {m.uri: m.fingerprint for m in rag.documents(**scope)}
    for uri, found in actors.each(reading, switches, list(blocks_of(uris))):
        done = _failed(uri, found) if isinstance(found, DiscoRagError) else cast("DocumentOutput", found)
        for outcome in done.get("outcomes", []):
            tell({"event": "document", **outcome})
            outcomes.append(outcome)
        ledger = Ledger.merged([*ledger.stages, *ledger_of(done.get("ledger", [])).stages])
    new = {m.uri: m for m in rag.documents(**scope) if before.get(m.uri) != m.fingerprint}
    told = [_of_this_run(o, new, before) for o in outcomes]
    return {"outcomes": told, "ledger": [s.model_dump(mode="json") for s in ledger.stages]}


def _of_this_run(outcome: Json, new: Mapping[str, Manifest], before: Mapping[str, str]) -> Json:
    """What an actor had stored before it died was found unchanged by the next one, but it is new."""
    uri = outcome["uri"]
    if outcome["status"] != Status.UNCHANGED or uri not in new:
        return outcome
    status = Status.REPLACED if uri in before else Status.ADDED
    return {**outcome, "status": str(status), "chunks": new[uri].chunks}


def reading(rag: DiscoRAG, switches: Mapping[str, Any]) -> Work:
    """The work on one document, by its uri: what one process does too."""
    context = rag.context(IngestContext, {**switches})

    def read(uri: str) -> DocumentOutput:
        try:
            return rag.run(lambda: read_document(uri, context))
        finally:
            rag.resources.workbench.pieces.clear()  # of one that raised

    return read


def blocks_of(uris: Iterable[str]) -> Iterator[list[str]]:
    """Small files together, up to `BLOCK_BYTES` and `BLOCK_DOCUMENTS`; others, and what is no file, alone."""
    block, size = list[str](), 0
    for uri in uris:
        more = _size(uri)
        if block and (size + more > BLOCK_BYTES or len(block) == BLOCK_DOCUMENTS):
            yield block
            block, size = [], 0
        block.append(uri)
        size += more
    if block:
        yield block


def _size(uri: str) -> int:
    try:
        return Path(uri).stat().st_size
    except OSError:
        return BLOCK_BYTES + 1


def _failed(uri: str, error: DiscoRagError) -> DocumentOutput:
    outcome = DocumentOutcome(uri=uri, status=Status.FAILED, note=str(error))
    record = StageRecord(stage="read", failures=(Failure.of("read", error),))
    return {"outcomes": [outcome.model_dump(mode="json")], "ledger": [record.model_dump(mode="json")]}
