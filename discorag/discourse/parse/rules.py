"""A parser without a model: sentences joined by paragraph and heading, in any language.

A span is cut at its strongest gap, the first one if several are equal. Without paragraphs and headings this is the
right-branching tree, a strong baseline for document structure.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from discorag.discourse.parse.parser import Limits, Unit, join_texts
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import Outcome
from discorag.schema.discourse import Nuclearity, Relation, RstTree, Split, from_splits
from discorag.schema.document import Chunk
from discorag.schema.values import Span

_MARKDOWN_HEADING = re.compile(r"#{1,6}\s[^\n]*")
_HEADING_LENGTH = 80
_SENTENCE_END = ".!?。！？…:：;；,，、"
_Gap = tuple[int, Relation, Nuclearity]
"""What lies between two sentences: its strength, and what joins the sides."""
_SENTENCES: _Gap = (0, Relation.ELABORATION, Nuclearity.NS)
_PARAGRAPHS: _Gap = (1, Relation.JOINT, Nuclearity.NN)
_HEADING_AND_TEXT: _Gap = (2, Relation.BACKGROUND, Nuclearity.SN)
_HEADINGS: _Gap = (3, Relation.BACKGROUND, Nuclearity.SN)
_SECTIONS: _Gap = (3, Relation.JOINT, Nuclearity.NN)


class RuleParser:
    """Parses a chunk by its layout: always the same way, in time n log n for n sentences."""

    name = "rules"
    version = "rules-2"

    async def parse(self, chunk: Chunk) -> Outcome[RstTree]:
        """The tree whose EDUs are the chunk's sentences."""
        return Outcome(value=rule_tree(chunk))

    def parse_units(self, texts: Sequence[str], kind: Unit) -> RstTree:
        """The tree over given units; every unit starts a paragraph if that is its kind."""
        whole, units = join_texts(texts, kind)
        starts = tuple(range(1, len(units))) if kind == "paragraph" else ()
        span = Span(start=0, end=len(whole))
        chunk = Chunk(id="", doc_id="", order=0, span=span, text=whole, sentences=units, paragraph_starts=starts)
        return rule_tree(chunk)


def rule_parser(_tools: Toolbox, _limits: Limits) -> RuleParser:
    """The parser ``rules``."""
    return RuleParser()


def rule_tree(chunk: Chunk) -> RstTree:
    """The tree over ``chunk.sentences`` that paragraphs and headings suggest."""
    gaps = _gaps(chunk)
    cuts = [0, len(gaps) + 1]
    splits: dict[tuple[int, int], Split] = {}
    for mid in sorted(range(1, len(gaps) + 1), key=lambda m: -gaps[m - 1][0]):
        at = bisect_left(cuts, mid)
        start, end, (_, relation, nuclearity) = cuts[at - 1], cuts[at], gaps[mid - 1]
        splits[start, end] = Split(start=start, mid=mid, end=end, relation=relation, nuclearity=nuclearity)
        cuts.insert(at, mid)
    return from_splits(chunk.sentences, splits)


def _gaps(chunk: Chunk) -> list[_Gap]:
    """What lies before each sentence but the first."""
    texts = [chunk.slice(s) for s in chunk.sentences]
    starts = frozenset(chunk.paragraph_starts)
    headings = [_MARKDOWN_HEADING.fullmatch(t) is not None for t in texts]
    headings[0] = headings[0] or (1 in starts and _is_title(texts[0]))
    return [_gap(headings[i - 1], headings[i], i in starts) for i in range(1, len(texts))]


def _gap(after_heading: bool, before_heading: bool, new_paragraph: bool) -> _Gap:
    if after_heading:
        return _HEADINGS if before_heading else _HEADING_AND_TEXT
    if before_heading:
        return _SECTIONS
    return _PARAGRAPHS if new_paragraph else _SENTENCES


def _is_title(text: str) -> bool:
    """Whether a paragraph of one sentence looks like a heading: one short line, no punctuation at its end."""
    short = len(text) <= _HEADING_LENGTH and "\n" not in text
    return short and text[0].isalnum() and text[-1] not in _SENTENCE_END
