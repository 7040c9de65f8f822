"""Parsers of given units: sentences of a paragraph, or texts that stand for paragraphs."""

from __future__ import annotations

import json
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from discorag.rst.rules import VERSION as RULES
from discorag.rst.rules import rule_tree
from discorag.text.sentences import language_of
from discorag.types.chunk import Chunk
from discorag.types.ids import digest
from discorag.types.rst_tree import RstTree, Split
from discorag.types.span import Span

Leaves = Literal["edu", "sentence"]
Unit = Literal["edu", "sentence", "paragraph"]


class UnitParser(Protocol):
    """Joins units, which it takes as they are, to a tree; `discorag.rst.trained.parser.TrainedParser` is one."""

    @property
    def version(self) -> str:
        """Everything that shapes its trees."""
        ...

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The tree whose EDU ``i`` is ``texts[i]`` (none blank) in the texts joined by white space."""
        ...


class RuleUnits:
    """The rule parser (`discorag.rst.rules`) over given units, in English and Chinese."""

    version = RULES

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The tree that headings and discourse markers suggest; every unit starts a paragraph if that is its kind."""
        whole, units = joined(texts, kind)
        chunk = Chunk(
            id="",
            doc_id="",
            order=0,
            span=Span(start=0, end=len(whole)),
            text=whole,
            sentences=units,
            paragraph_starts=tuple(range(1, len(units))) if kind == "paragraph" else (),
        )
        return rule_tree(chunk)


class EnglishUnits:
    """A parser of English that leaves to the rules what it cannot read.

    Args:
        parser: Is asked where every text is English and at least one holds a letter or digit.
    """

    def __init__(self, parser: UnitParser) -> None:
        self._parser, self._rules = parser, RuleUnits()

    @property
    def version(self) -> str:
        """Both parsers'."""
        return f"{self._parser.version}|{self._rules.version}"

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The parser's tree, or the rules'."""
        readable = all(language_of(text) == "en" for text in texts) and any(map(str.isalnum, "".join(texts)))
        return (self._parser if readable else self._rules).parse_units(texts, kind)


def joined(texts: Sequence[str], kind: Unit) -> tuple[str, tuple[Span, ...]]:
    """The texts as one, paragraphs set apart by blank lines, others by spaces; and where each stands in it."""
    whole = ("\n\n" if kind == "paragraph" else " ").join(texts)
    return whole, units_in(texts, whole)


@dataclass
class Parses:
    """The parses that one document takes.

    Args:
        parser: Who parses.
        cache: Trees by a digest of their texts, kind and parser's version; what is there is not parsed again.
        parsed: How many were parsed.
        reused: How many came from the cache.
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


def units_in(texts: Sequence[str], whole: str) -> tuple[Span, ...]:
    """Where ``texts`` stand in ``whole``, without white space around them; they follow one another there."""
    spans: list[Span] = []
    at = 0
    for text in map(str.strip, texts):
        start = whole.index(text, at)
        spans.append(Span(start=start, end=(at := start + len(text))))
    return tuple(spans)
