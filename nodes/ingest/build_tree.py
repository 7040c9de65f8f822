"""build_tree: the retrieval tree that questions will need, so that the first one need not wait for it."""

from __future__ import annotations

from langgraph.runtime import Runtime

from discorag.ingest.survey import NOT_MADE
from discorag.retrieval.registry import RETRIEVERS
from discorag.schema.errors import DiscoRagError, StoreError
from discorag.schema.ledger import StageRecord
from nodes.backends import Backends
from nodes.context import IngestContext, ingest_context
from nodes.ingest.record import spent
from nodes.stage import Stage
from nodes.state import DocumentState, Json
from nodes.trees import noted, tree_index

LATER = "the first question builds it"


async def build_tree(state: DocumentState, runtime: Runtime[IngestContext]) -> Json:
    """Build and store the tree of a stored document that has none; one that fails is left to the first question."""
    context = ingest_context(runtime)
    doc_id = state.get("doc_id")
    if context.retriever not in RETRIEVERS or doc_id is None:
        return spent(StageRecord(stage="build_tree", engine="off"))
    stage, backends, scope = Stage("build_tree"), await context.open_backends(), await context.scope()
    try:
        index = tree_index(RETRIEVERS[context.retriever], backends, scope, _parser(context, backends))
        await index.ensure([doc_id])
        noted(stage, index)
    except DiscoRagError as error:
        stage.failed(error, fallback=LATER)
    except OSError as error:
        full = StoreError(f"The tree of {state['uri']} could not be stored: {error}.", hint="Check the disk.")
        stage.failed(full, fallback=LATER)
    return {"ledger": stage.done(engine="local", model=backends.encoder.version)}


def _parser(context: IngestContext, backends: Backends) -> str:
    """Whoever makes the chunks' trees; if nobody does, whoever is configured."""
    engine = context.tree_engine(backends)
    return backends.settings.parser.kind if engine == NOT_MADE else engine
