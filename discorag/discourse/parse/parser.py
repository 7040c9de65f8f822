"""What every RST parser does: one chunk in, one tree out, with what that cost; and which parsers there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.schema.chunk import Chunk
from discorag.schema.rst_tree import RstTree
from discorag.schema.usage import Usage


@dataclass(frozen=True, kw_only=True)
class ParsedTree:
    """A chunk's tree in document offsets; ``usage`` and ``prompt_hash`` stay empty where no model was called.

    Example:
        >>> from discorag.discourse.parse.rules import RuleParser
        >>> parsed = asyncio.run(RuleParser().parse(chunk))
        >>> len(parsed.tree.edus), parsed.usage.calls
        (6, 0)
    """

    tree: RstTree
    usage: Usage = field(default_factory=Usage)
    prompt_hash: str = ""


class TreeParser(Protocol):
    """Parses chunks. One that is also a `discorag.discourse.parse.units.UnitParser` makes the retrievers' trees."""

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


@dataclass(frozen=True)
class Limits:
    """How a language model that parses is asked; other parsers need none of it.

    Args:
        temperature: Of sampling.
        max_tokens: Of its reply. None: see `reply_tokens`.
        beam_width: Of beam search; 3 in Disco-RAG section 4.

    Example:
        >>> from discorag.discourse.parse.parser import Limits
        >>> Limits(beam_width=1)
        Limits(temperature=0.0, max_tokens=None, beam_width=1)
    """

    temperature: float = 0.0
    max_tokens: int | None = None
    beam_width: int = 3


def reply_tokens(text: str) -> int:
    """Output limit of a tree over ``text``: a copy of it and its nodes, which take less than two tokens a byte.

    A chunk of 256 tokens in 30 EDUs takes about 1,400 as JSON; for its 1,100 bytes there is room for 2,456.
    """
    return 256 + 2 * len(text.encode())


MakeParser = Callable[[Toolbox, Limits], TreeParser]

PARSERS = Registry[MakeParser]("parser", "disco_rag.parsers")
"""Parsers by name, as ``parser=`` knows them."""

register_parser = PARSERS.register

PARSERS.offer(
    "local", "discorag.discourse.parse.trained.parser:trained_parser", "the trained parser, by default over MiniLM"
)
PARSERS.offer("rules", "discorag.discourse.parse.rules:rule_parser", "sentences joined by layout and connectives")
PARSERS.offer("right-branching", "discorag.discourse.parse.rules:right_branching_parser", "a control")
PARSERS.offer("llm", "discorag.discourse.parse.prompted:llm_parser", "the configured language model, one call a chunk")
PARSERS.offer(
    "paper", "discorag.discourse.parse.as_printed:paper_parser", "llm with the prompt of Disco-RAG fig. 10, beam 3"
)

PROMPTED = frozenset({"llm", "paper"})
"""Those of ours that ask a language model for every chunk."""
