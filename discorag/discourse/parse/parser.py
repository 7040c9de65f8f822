"""RST parsers by name: from a chunk, or from units such as sentences, to a tree."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from discorag.models.protocol import TreeParser
from discorag.models.toolbox import Toolbox
from discorag.registry import Registry
from discorag.schema.discourse import RstTree
from discorag.schema.values import Span


@dataclass(frozen=True)
class Limits:
    """How a parser calls a language model; other parsers ignore it. Three beams are Disco-RAG's (section 4)."""

    temperature: float = 0.0
    beam_width: int = 3


PARSERS = Registry[Callable[[Toolbox, Limits], TreeParser]]("parser", "disco_rag.parsers")
"""Parsers by name, as ``parser=`` knows them."""

register_parser = PARSERS.register

PARSERS.offer(
    "local", "discorag.discourse.parse.trained.parser:trained_parser", "the trained parser, by default over MiniLM"
)
PARSERS.offer("rules", "discorag.discourse.parse.rules:rule_parser", "sentences joined by paragraphs and headings")
PROMPTED = "paper"
"""The built-in parser that calls a language model for every chunk."""
PARSERS.offer(
    PROMPTED,
    "discorag.discourse.parse.as_printed:paper_parser",
    "the language model, one call per chunk: prompt of Disco-RAG fig. 10, beam 3",
)

Unit = Literal["edu", "sentence", "paragraph"]


@runtime_checkable
class UnitParser(Protocol):
    """Joins given units to a tree; `discorag.discourse.parse.trained.parser.TrainedParser` is one."""

    @property
    def version(self) -> str:
        """Names everything that shapes its trees."""
        ...

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The tree over the texts joined by white space; EDU ``i`` is ``texts[i]``, and none is blank."""
        ...


def embedded_version(parser: UnitParser) -> str:
    """The parser's version in braces, for the version of a tree that it helped to build."""
    return f"{{{parser.version}}}"


def without_parsers(version: str) -> str:
    """The version with empty braces: the same for trees that differ only in the parser (`embedded_version`)."""
    return re.sub(r"\{[^{}]*\}", "{}", version)


def join_texts(texts: Sequence[str], kind: Unit) -> tuple[str, tuple[Span, ...]]:
    """The texts as one, paragraphs separated by blank lines, others by spaces; and the span of each text.

    Spans do not include white space around the texts.
    """
    whole, spans, at = ("\n\n" if kind == "paragraph" else " ").join(texts), list[Span](), 0
    for text in map(str.strip, texts):
        start = whole.index(text, at)
        spans.append(Span(start=start, end=(at := start + len(text))))
    return whole, tuple(spans)
