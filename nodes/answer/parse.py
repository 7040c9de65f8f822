"""parse: the RST trees of the passages, as far as they are not stored."""

import asyncio
from dataclasses import replace

from langgraph.runtime import Runtime

from discorag.discourse.parse.parser import PROMPTED, Limits
from discorag.generation.passages import passages_to_read
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Scope
from discorag.store.store import Store
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def parse(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Parse what lacks a tree or, if the question names a parser, has another one's.

    A chunk on which a language model fails gets the local parser's tree. From here on the state shows the ``passages``.
    """
    context = await answer_context(state, runtime)
    stage = Stage("parse")
    backends, inputs = await context.open_backends(), await load_inputs(state, context)
    if not context.use_tree:
        passages = await asyncio.to_thread(passages_to_read, inputs)
        return {"trees": {}, "passages": passages, "ledger": stage.done(engine="off")}
    engine = backends.parser_name(context.parser)
    if engine == PROMPTED and state.get("model_failed"):
        engine = "local"
    parser = await asyncio.to_thread(backends.parser, engine, Limits(context.temperature, context.beam_width))
    made_by = await asyncio.to_thread(_parsers_of, inputs, backends.store, await context.scope())
    is_named = context.parser != "auto"
    missing = [c for c in inputs.chunks if c.tree is None or (is_named and made_by.get(c.doc_id) != parser.version)]
    local = await asyncio.to_thread(backends.parser, "local")
    parsed = await asyncio.gather(*(stage.parse(c, parser, local) for c in missing))
    trees = {chunk.id: tree for chunk, tree in zip(missing, parsed, strict=True)}
    preview = f"{len(missing)} of {len(inputs.chunks)} chunks parsed now"
    chunks = tuple(c.model_copy(update={"tree": trees.get(c.id, c.tree)}) for c in inputs.chunks)
    passages = await asyncio.to_thread(passages_to_read, replace(inputs, chunks=chunks))
    if missing:
        stage.counts = {"trees made": len(missing), "trees stored": len(inputs.chunks) - len(missing)}
        maker = "llm" if engine == PROMPTED else "local"
        ledger = stage.finish_batch(len(missing), engine=maker, model=parser.version, preview=preview)
    else:
        makers = ", ".join(sorted(set(made_by.values())))
        ledger = stage.done(engine="stored", model=makers, preview=preview)
    made = {chunk_id: tree.model_dump(mode="json") for chunk_id, tree in trees.items()}
    return {"trees": made, "passages": passages, "ledger": ledger}


def _parsers_of(inputs: AnswerInputs, store: Store, scope: Scope) -> dict[str, str]:
    """The versions of the parsers that made the stored trees, by document."""
    found = store.manifests(scope, list({c.doc_id for c in inputs.chunks}))
    return {m.doc_id: m.versions.get("parser", "") for m in found}
