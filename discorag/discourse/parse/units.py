"""Parsers of given units: sentences of a paragraph, or texts that stand for paragraphs."""

from __future__ import annotations

import json
import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from discorag.schema.ids import digest
from discorag.schema.rst_tree import RstTree, Split
from discorag.schema.span import Span

Leaves = Literal["edu", "sentence"]
Unit = Literal["edu", "sentence", "paragraph"]


@runtime_checkable
class UnitParser(Protocol):
    """Joins given units to a tree; `discorag.discourse.parse.trained.parser.TrainedParser` is one."""

    @property
    def version(self) -> str:
        """Everything that shapes its trees."""
        ...

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The tree whose EDU ``i`` is ``texts[i]`` (none blank) in the texts joined by white space."""
        ...


def marked(parser: UnitParser) -> str:
    """The parser's version as it stands in the version of what was made with it: what made it can be told apart."""
    return f"{{{parser.version}}}"


def but_parsers(version: str) -> str:
    """A version without the parsers' in it."""
    return re.sub(r"\{[^{}]*\}", "{}", version)


def joined(texts: Sequence[str], kind: Unit) -> tuple[str, tuple[Span, ...]]:
    """The texts as one, paragraphs set apart by blank lines, others by spaces; and where each stands in it."""
    whole = ("\n\n" if kind == "paragraph" else " ").join(texts)
    return whole, sentences_in(texts, whole)


@dataclass
class Parses:
    """The parses that one document takes.

    Args:
        parser: Who parses.
        cache: Trees by a digest of their texts, kind and parser's version; what is there is not parsed again.
        parsed: How many were parsed.
        reused: How many came from the cache.

    Example:
        >>> from discorag.discourse.parse.rules import RuleParser
        >>> from discorag.discourse.parse.units import Parses
        >>> parses = Parses(RuleParser(), cache={})
        >>> _ = [parses.splits(["The moon pulls.", "Therefore tides rise."], "sentence") for _ in range(2)]
        >>> parses.parsed, parses.reused
        (1, 1)
    """

    parser: UnitParser
    cache: MutableMapping[str, RstTree]
    parsed: int = 0
    reused: int = 0

    def splits(self, texts: Sequence[str], kind: Unit) -> tuple[Split, ...]:
        """The inner nodes over these units in pre-order; none over a single one, which takes no parse."""
        if len(texts) < 2:
            return ()
        key = digest(json.dumps([self.parser.version, kind, *texts]))
        tree = self.cache.get(key)
        if tree is None:
            self.parsed += 1
            tree = self.cache[key] = self.parser.parse_units(texts, kind)
        else:
            self.reused += 1
        return tree.splits


def sentences_in(texts: Sequence[str], whole: str) -> tuple[Span, ...]:
    """Where ``texts`` stand in ``whole``, without white space around them; they follow one another there."""
    spans: list[Span] = []
    at = 0
    for text in map(str.strip, texts):
        start = whole.index(text, at)
        spans.append(Span(start=start, end=(at := start + len(text))))
    return tuple(spans)
