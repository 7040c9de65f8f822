"""parse: RST trees for retrieved chunks that have none. Costs nothing when trees were made at ingest."""

import asyncio

from langgraph.runtime import Runtime

from discorag.discourse.parse.parser import PROMPTED, TreeParser
from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Scope
from discorag.store.store import Store
from nodes.context import AnswerContext, answer_context
from nodes.inputs import load_inputs
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def parse(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Parse what lacks a tree; a chunk on which the llm engine fails gets the local engine's tree."""
    context = await answer_context(runtime)
    stage = Stage("parse")
    if not context.use_tree:
        return {"trees": {}, "ledger": stage.done(engine="off")}
    backends, inputs = await context.open_backends(), await load_inputs(state, context)
    engine = backends.parser_name(context.parser)
    parser = backends.parser(engine, context.limits)
    scope = await context.scope()
    others = (
        await asyncio.to_thread(_parsed_by_others, inputs, parser, backends.store, scope) if engine == "paper" else ()
    )
    missing = [c for c in inputs.chunks if c.tree is None or c.doc_id in others]
    trees = await asyncio.gather(*(stage.parse(c, parser, backends.parser("local")) for c in missing))
    preview = f"{len(missing)} of {len(inputs.chunks)} chunks parsed now"
    maker = ("llm" if engine == PROMPTED else "local") if missing else "stored"
    ledger = stage.finish_batch(len(missing), engine=maker, model=parser.version, preview=preview)
    return {"trees": {c.id: t.model_dump(mode="json") for c, t in zip(missing, trees, strict=True)}, "ledger": ledger}


def _parsed_by_others(inputs: AnswerInputs, parser: TreeParser, store: Store, scope: Scope) -> set[str]:
    """The documents whose stored trees are not this parser's."""
    found = (store.manifest(scope, doc_id) for doc_id in {c.doc_id for c in inputs.chunks})
    return {m.doc_id for m in found if m and m.versions.get("parser") != parser.version}
