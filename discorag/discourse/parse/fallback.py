"""A tree for every chunk, whatever happens to the parser that was chosen."""

from __future__ import annotations

from typing import Protocol

from discorag.discourse.parse.parser import TreeParser
from discorag.schema.discourse import RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import DiscoRagError, ModelError, Usage


class Account(Protocol):
    """Where a stage writes down what its calls cost and which of them failed."""

    usage: Usage
    prompt_hash: str

    def failed(self, error: DiscoRagError, *, fallback: str) -> None:
        """Count an error, with the version of what is used instead."""
        ...


async def tree_or_fallback(chunk: Chunk, parser: TreeParser, fallback: TreeParser, account: Account) -> RstTree:
    """The parser's tree; on a model failure the fallback's, and the failure is counted."""
    try:
        parsed = await parser.parse(chunk)
    except ModelError as error:
        account.failed(error, fallback=fallback.version)
        parsed = await fallback.parse(chunk)
    account.usage = account.usage + parsed.usage
    account.prompt_hash = account.prompt_hash or parsed.prompt_hash
    return parsed.tree
