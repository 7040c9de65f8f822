"""parse: RST trees for retrieved chunks that have none. Costs nothing when trees were made at ingest."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from discorag.errors import ModelError
from discorag.hierarchy.node import Chunk
from discorag.rst.parser import TreeParser
from discorag.rst.tree import RstTree
from nodes.case import case_of
from nodes.context import AnswerContext, answer_context
from nodes.stage import Stage
from nodes.state import AnswerState, Json


async def parse(state: AnswerState, runtime: Runtime[AnswerContext]) -> Json:
    """Parse what lacks a tree; a chunk on which the llm engine fails gets the local engine's tree."""
    context = answer_context(runtime)
    stage = Stage("parse")
    if not context.use_tree:
        return {"trees": {}, "ledger": stage.done(engine="off")}
    deps, case = await context.deps(), await case_of(state, context)
    missing = [c for c in case.chunks if c.tree is None]
    parser = deps.parser(context.parser, temperature=context.temperature, max_tokens=context.tree_tokens)
    trees = await asyncio.gather(*(tree_or_fallback(c, parser, deps.parser("local"), stage) for c in missing))
    preview = f"{len(missing)} of {len(case.chunks)} chunks parsed now"
    engine = ("llm" if context.parser == "llm" else "local") if missing else "stored"
    ledger = stage.done(engine=engine, model=parser.version, preview=preview)
    return {"trees": {c.id: t.model_dump(mode="json") for c, t in zip(missing, trees, strict=True)}, "ledger": ledger}


async def tree_or_fallback(chunk: Chunk, parser: TreeParser, fallback: TreeParser, stage: Stage) -> RstTree:
    """The parser's tree; on a model failure the fallback's, and the failure is counted."""
    try:
        parsed = await parser.parse(chunk)
    except ModelError as error:
        stage.failed(error, fallback=fallback.version)
        parsed = await fallback.parse(chunk)
    stage.usage = stage.usage + parsed.usage
    stage.prompt_hash = stage.prompt_hash or parsed.prompt_hash
    return parsed.tree
