"""A parser without a model: sentences, joined by paragraph, heading and discourse marker.

Every gap between two sentences gets a strength; a span is cut at its strongest gap, the first one if several are
equal. Without any cue this is the right-branching tree, a strong baseline for document structure. The relation of a
cut comes from the marker that opens its right-hand side (`discorag.discourse.parse.markers`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from discorag.discourse.parse.markers import Marker, Reach, opening
from discorag.discourse.parse.parser import Limits, ParsedTree
from discorag.discourse.parse.units import Unit, joined
from discorag.models.toolbox import Toolbox
from discorag.schema.chunk import Chunk
from discorag.schema.rst_relations import Nuclearity, Relation
from discorag.schema.rst_tree import RstTree, Split, from_splits
from discorag.schema.span import Span

VERSION = "rules-1"

_MARKDOWN_HEADING = re.compile(r"#{1,6}\s[^\n]*")
_HEADING_LENGTH = 80
_SENTENCE_END = ".!?。！？…:：;；,，、"

_BETWEEN_SENTENCES = Marker(Relation.ELABORATION, Nuclearity.NS)
_BETWEEN_PARAGRAPHS = Marker(Relation.JOINT, Nuclearity.NN)
_AFTER_HEADING = Marker(Relation.BACKGROUND, Nuclearity.SN)


class _Level(IntEnum):
    """What kind of gap: the outermost is cut first."""

    SENTENCE = 0
    PARAGRAPH = 1
    HEADED = 2  # between a heading and its text
    SECTION = 3  # before a heading


@dataclass(frozen=True)
class _Gap:
    level: _Level
    marker: Marker

    @property
    def strength(self) -> int:
        """Levels outweigh reach."""
        return len(Reach) * self.level + self.marker.reach


class RuleParser:
    """The local engine's parser: deterministic, n log n in the number of sentences, no model.

    Example:
        >>> from discorag.discourse.parse.rules import RuleParser
        >>> tree = asyncio.run(RuleParser().parse(chunk)).tree
        >>> [str(split.relation) for split in tree.splits]
        ['JOINT', 'BACKGROUND', 'RESULT', 'BACKGROUND', 'CONTRAST']
    """

    name = "rules"
    version = VERSION

    async def parse(self, chunk: Chunk) -> ParsedTree:
        """The tree whose EDUs are the chunk's sentences."""
        return ParsedTree(tree=rule_tree(chunk))

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The tree that headings and discourse markers suggest; every unit starts a paragraph if that is its kind."""
        return rule_tree(_chunk_of(texts, kind))


def rule_parser(_tools: Toolbox, _limits: Limits) -> RuleParser:
    """For the registry."""
    return RuleParser()


class RightBranchingParser:
    """A control: every sentence elaborated by all that follows, so that the first ones are the most nuclear.

    Example:
        >>> from discorag.discourse.parse.rules import RightBranchingParser
        >>> tree = asyncio.run(RightBranchingParser().parse(chunk)).tree
        >>> [(split.start, split.mid, split.end) for split in tree.splits]
        [(0, 1, 6), (1, 2, 6), (2, 3, 6), (3, 4, 6), (4, 5, 6)]
    """

    name = "right-branching"
    version = "right-branching-1"

    async def parse(self, chunk: Chunk) -> ParsedTree:
        """The tree whose EDUs are the chunk's sentences."""
        return ParsedTree(tree=_right_branching(chunk.sentences))

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The same over given units."""
        return _right_branching(joined(texts, kind)[1])


def right_branching_parser(_tools: Toolbox, _limits: Limits) -> RightBranchingParser:
    """For the registry."""
    return RightBranchingParser()


def _right_branching(edus: tuple[Span, ...]) -> RstTree:
    n = len(edus)
    relation, nuclearity = _BETWEEN_SENTENCES.relation, _BETWEEN_SENTENCES.nuclearity
    splits = tuple(Split(start=i, mid=i + 1, end=n, relation=relation, nuclearity=nuclearity) for i in range(n - 1))
    return RstTree(edus=edus, splits=splits)


def _chunk_of(texts: Sequence[str], kind: Unit) -> Chunk:
    whole, units = joined(texts, kind)
    starts = tuple(range(1, len(units))) if kind == "paragraph" else ()
    span = Span(start=0, end=len(whole))
    return Chunk(id="", doc_id="", order=0, span=span, text=whole, sentences=units, paragraph_starts=starts)


def rule_tree(chunk: Chunk) -> RstTree:
    """The tree over ``chunk.sentences`` that paragraphs, headings and markers suggest."""
    return from_splits(chunk.sentences, _splits(_gaps(chunk)))


def _splits(gaps: Sequence[_Gap]) -> dict[tuple[int, int], Split]:
    """Cut at gap after gap, strongest first; ``gaps[i]`` lies before sentence i + 1."""
    cuts = [0, len(gaps) + 1]
    splits: dict[tuple[int, int], Split] = {}
    for mid in sorted(range(1, len(gaps) + 1), key=lambda m: -gaps[m - 1].strength):
        at = bisect_left(cuts, mid)
        start, end, marker = cuts[at - 1], cuts[at], gaps[mid - 1].marker
        splits[start, end] = Split(
            start=start, mid=mid, end=end, relation=marker.relation, nuclearity=marker.nuclearity
        )
        cuts.insert(at, mid)
    return splits


def _gaps(chunk: Chunk) -> list[_Gap]:
    texts = [chunk.slice(s) for s in chunk.sentences]
    starts = frozenset(chunk.paragraph_starts)
    headings = [_MARKDOWN_HEADING.fullmatch(t) is not None for t in texts]
    headings[0] = headings[0] or (1 in starts and _is_title(texts[0]))
    return [_gap(texts[i], headings[i - 1], headings[i], i in starts) for i in range(1, len(texts))]


def _gap(right: str, after_heading: bool, before_heading: bool, new_paragraph: bool) -> _Gap:
    if after_heading:
        return _Gap(_Level.SECTION if before_heading else _Level.HEADED, _AFTER_HEADING)
    if before_heading:
        return _Gap(_Level.SECTION, _BETWEEN_PARAGRAPHS)
    if new_paragraph:
        return _Gap(_Level.PARAGRAPH, opening(right) or _BETWEEN_PARAGRAPHS)
    return _Gap(_Level.SENTENCE, opening(right) or _BETWEEN_SENTENCES)


def _is_title(text: str) -> bool:
    """Whether a paragraph of one sentence looks like a heading: one short line, no punctuation at its end."""
    short = len(text) <= _HEADING_LENGTH and "\n" not in text
    return short and text[0].isalnum() and text[-1] not in _SENTENCE_END
