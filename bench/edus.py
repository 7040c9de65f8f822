"""Trees over clause-like units at the density of hand-made ones, for measuring what such trees cost.

A stand-in for a trained segmenter: sentences are cut before words and signs that often open a clause. Where it cuts is
rough; how often it cuts and how deep its trees are is what decides the length of a prompt, and that is measured:
`gum_density` against `density`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from discorag.rst.markers import Marker, opening
from discorag.rst.parser import ParsedTree
from discorag.rst.rules import rule_tree
from discorag.types.chunk import Chunk
from discorag.types.rst_relations import Nuclearity, Relation
from discorag.types.rst_tree import RstTree, Split, from_splits
from discorag.types.span import Span

SHORTEST = 4
"""Words that a cut leaves at least on either side of it: near GUM's density in Loong's papers."""

_WORD = re.compile(r"\w+")
_LEAF = re.compile(r"\(leaf \d+\).*?\(text _!(.*?)_!\)")
_NS, _SN, _NN = Nuclearity.NS, Nuclearity.SN, Nuclearity.NN
_OPENERS: dict[str, Marker] = {
    **dict.fromkeys(("and", "or", "as well as"), Marker(Relation.JOINT, _NN)),
    **dict.fromkeys(("but", "whereas", "while"), Marker(Relation.CONTRAST, _NN)),
    **dict.fromkeys(("because", "since", "due to"), Marker(Relation.CAUSE, _NS)),
    **dict.fromkeys(("although", "though", "despite"), Marker(Relation.CONCESSION, _NS)),
    **dict.fromkeys(("if", "unless", "given"), Marker(Relation.CONDITION, _NS)),
    **dict.fromkeys(("when", "where", "with", "during"), Marker(Relation.CIRCUMSTANCE, _NS)),
    **dict.fromkeys(("after", "before", "until"), Marker(Relation.TEMPORAL, _NS)),
    **dict.fromkeys(("to", "in order to", "so that", "for"), Marker(Relation.PURPOSE, _NS)),
    **dict.fromkeys(("by", "using", "based on", "via"), Marker(Relation.EXPLANATION, _NS)),
    **dict.fromkeys(("such as", "including", "e.g."), Marker(Relation.EXAMPLE, _NS)),
    **dict.fromkeys(("that", "whether"), Marker(Relation.ATTRIBUTION, _SN)),
    **dict.fromkeys(("which", "who", "whose"), Marker(Relation.ELABORATION, _NS)),
    "(": Marker(Relation.RESTATEMENT, _NS),
}
_OPENER = "|".join(re.escape(o) + (r"\b" if o[-1].isalpha() else "") for o in sorted(_OPENERS, key=len, reverse=True))
_CUT = re.compile(rf"(?<=[,;:])\s+|\s+(?={_OPENER})")
_STARTS = re.compile(_OPENER)
_DEFAULT = Marker(Relation.ELABORATION, _NS)


class EduParser:
    """A `TreeParser` over clause-like units; deterministic, no model."""

    name = "clauses"
    version = f"bench-clauses-{SHORTEST}"

    async def parse(self, chunk: Chunk) -> ParsedTree:
        """The rule parser's tree, each sentence of it cut further."""
        return ParsedTree(tree=edu_tree(chunk))


def edu_tree(chunk: Chunk) -> RstTree:
    """The rule parser's tree with each sentence replaced by a right-branching tree over its clause-like units."""
    parts = [list(_cut(chunk, sentence)) for sentence in chunk.sentences]
    first = [0]
    for units in parts:
        first.append(first[-1] + len(units))
    edus = tuple(unit for units in parts for unit in units)
    splits = [_between(s, first) for s in rule_tree(chunk).splits]
    for start, end in pairwise(first):
        splits += [_inside(chunk, edus, mid, end) for mid in range(start + 1, end)]
    return from_splits(edus, {(s.start, s.end): s for s in splits})


def density(chunks: Iterable[Chunk]) -> float:
    """Mean words per EDU of the chunks' trees. Raises ``ZeroDivisionError`` if none has a tree."""
    trees = [(c, c.tree) for c in chunks if c.tree is not None]
    return sum(_words(c.text) for c, _ in trees) / sum(len(t.edus) for _, t in trees)


def gum_density(folder: Path) -> float:
    """Mean words per EDU in the trees of the GUM corpus (``folder/rst/*.dis``), about 6.7."""
    texts = [t for file in folder.glob("rst/*.dis") for t in _LEAF.findall(file.read_text(encoding="utf-8"))]
    return sum(map(_words, texts)) / len(texts)


def _words(text: str) -> int:
    return len(_WORD.findall(text))


def _cut(chunk: Chunk, sentence: Span) -> Iterator[Span]:
    """Cut at every opening that leaves both sides enough words."""
    text, at = chunk.slice(sentence), 0
    for found in _CUT.finditer(text):
        if _words(text[at : found.start()]) >= SHORTEST and _words(text[found.end() :]) >= SHORTEST:
            yield Span(start=sentence.start + at, end=sentence.start + found.start())
            at = found.end()
    yield Span(start=sentence.start + at, end=sentence.end)


def _between(split: Split, first: list[int]) -> Split:
    """A split over sentences as one over their units."""
    places = {"start": first[split.start], "mid": first[split.mid], "end": first[split.end]}
    return split.model_copy(update=places)


def _inside(chunk: Chunk, edus: tuple[Span, ...], mid: int, end: int) -> Split:
    right = chunk.slice(edus[mid])
    found = _STARTS.match(right)
    marker = _OPENERS[found[0]] if found else opening(right) or _DEFAULT
    return Split(start=mid - 1, mid=mid, end=end, relation=marker.relation, nuclearity=marker.nuclearity)
