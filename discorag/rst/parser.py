"""What every RST parser does: one chunk in, one tree out, with what that cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from discorag.types.chunk import Chunk
from discorag.types.rst_tree import RstTree
from discorag.types.usage import Usage


@dataclass(frozen=True, kw_only=True)
class ParsedTree:
    """A chunk's tree in document offsets; ``usage`` and ``prompt_hash`` stay empty where no model was called."""

    tree: RstTree
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str = ""


class TreeParser(Protocol):
    """A parser of chunks."""

    @property
    def name(self) -> str:
        """The model, for the ledger."""
        ...

    @property
    def version(self) -> str:
        """Everything that shapes its trees; stored with them, so that a change parses again."""
        ...

    async def parse(self, chunk: Chunk) -> ParsedTree:
        """The tree over the whole text of ``chunk``; its EDUs hold every character that is not white space.

        Raises:
            ModelError: From parsers that call a model.
        """
        ...
