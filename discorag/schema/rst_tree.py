"""The RST tree: elementary discourse units (EDUs) and the binary splits over them.

A binary tree over n EDUs is n - 1 *splits*: the span ``[start, end)`` of EDU indices, cut at ``mid``. The flat
form needs no recursion, is what Parseval counts, and goes to JSON as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discorag.schema.errors import InvariantError
from discorag.schema.notebook import Drawn
from discorag.schema.rst_relations import Nuclearity, Relation
from discorag.schema.span import Span


class Split(BaseModel):
    """An inner node: EDUs ``[start, mid)`` and ``[mid, end)``, zero-based, joined by a relation.

    ``confidence`` says how likely it is that cut, nuclearity and relation are right; None where the parser does not.

    Example:
        >>> from discorag.schema.rst_relations import Nuclearity, Relation
        >>> from discorag.schema.rst_tree import Split
        >>> split = Split(start=0, mid=1, end=2, relation=Relation.CAUSE, nuclearity=Nuclearity.NS)
        >>> f"{split.relation} of EDUs {split.start} to {split.end - 1}"
        'CAUSE of EDUs 0 to 1'
    """

    model_config = ConfigDict(frozen=True)

    start: int = Field(ge=0)
    mid: int
    end: int
    relation: Relation
    nuclearity: Nuclearity
    confidence: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _check(self) -> Split:
        if not self.start < self.mid < self.end:
            raise InvariantError(f"Split [{self.start}, {self.mid}, {self.end}) has an empty side.")
        if self.relation is Relation.JOINT and self.nuclearity is not Nuclearity.NN:
            raise InvariantError("JOINT joins two nuclei; its nuclearity must be NN.")
        return self


class RstTree(Drawn, BaseModel):
    """A binary RST tree over the EDUs of one text.

    Args:
        edus: Spans in the document's canonical text, in order, disjoint.
        splits: The n - 1 inner nodes in pre-order (root first, left before right).

    Raises:
        InvariantError: EDUs overlap or are out of order, or the splits are not one binary tree over them
            (pydantic reports it as ``ValidationError``).

    Source: Disco-RAG section 3, "Intra-Chunk RST Tree"; fig. 10 (binary; one nucleus or two).

    Example:
        >>> from discorag.discourse.parse.rules import rule_tree
        >>> tree = rule_tree(chunk)
        >>> tree.edus[0].of(document.text)
        '# Tides'
        >>> [str(split.relation) for split in tree.splits], tree.satellite_depth
        (['JOINT', 'BACKGROUND', 'RESULT', 'BACKGROUND', 'CONTRAST'], (1, 0, 1, 1, 0, 0))
    """

    model_config = ConfigDict(frozen=True)

    edus: tuple[Span, ...] = Field(min_length=1)
    splits: tuple[Split, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> RstTree:
        for a, b in zip(self.edus, self.edus[1:], strict=False):
            if b.start < a.end:
                raise InvariantError(f"EDU at {b.start} overlaps the one that ends at {a.end}.")
        expected = tuple(_preorder(self._by_span, len(self.edus)))
        if expected != self.splits:
            raise InvariantError(f"{len(self.splits)} splits do not form one binary tree in pre-order.")
        return self

    @cached_property
    def _by_span(self) -> dict[tuple[int, int], Split]:
        return {(s.start, s.end): s for s in self.splits}

    def split_at(self, start: int, end: int) -> Split:
        """The inner node that covers EDUs ``[start, end)``; ``KeyError`` if that is no constituent."""
        return self._by_span[start, end]

    def head(self, start: int, end: int) -> int:
        """The EDU that a constituent is about: down its nuclei, the left one of two (Marcu's promotion)."""
        while end - start > 1:
            split = self.split_at(start, end)
            start, end = (split.mid, end) if split.nuclearity is Nuclearity.SN else (start, split.mid)
        return start

    @property
    def span(self) -> Span:
        """Characters from the first EDU's start to the last one's end."""
        return Span(start=self.edus[0].start, end=self.edus[-1].end)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Depth of the split that separates EDU i from i + 1 (root = 1), for the n - 1 gaps in text order.

        Together with each split's label they determine the tree: inside a span, the shallowest gap is its split.
        """
        depth = {(0, len(self.edus)): 1}
        gaps = [0] * len(self.splits)
        for s in self.splits:  # pre-order: a parent comes before its children
            d = depth[s.start, s.end]
            gaps[s.mid - 1] = d
            depth[s.start, s.mid] = depth[s.mid, s.end] = d + 1
        return tuple(gaps)

    @cached_property
    def satellite_depth(self) -> tuple[int, ...]:
        """For each EDU, how many satellite links lie between it and the root; 0 is the most nuclear (Marcu)."""
        links = {(0, len(self.edus)): 0}
        for s in self.splits:
            above = links[s.start, s.end]
            links[s.start, s.mid] = above + (s.nuclearity is Nuclearity.SN)
            links[s.mid, s.end] = above + (s.nuclearity is Nuclearity.NS)
        return tuple(links[i, i + 1] for i in range(len(self.edus)))

    @cached_property
    def satellite_weight(self) -> tuple[float, ...]:
        """`satellite_depth` where each link counts by its split's confidence, and as 1 where the parser gives none."""
        links = {(0, len(self.edus)): 0.0}
        for s in self.splits:
            above, sure = links[s.start, s.end], 1.0 if s.confidence is None else s.confidence
            links[s.start, s.mid] = above + sure * (s.nuclearity is Nuclearity.SN)
            links[s.mid, s.end] = above + sure * (s.nuclearity is Nuclearity.NS)
        return tuple(links[i, i + 1] for i in range(len(self.edus)))


def from_splits(edus: tuple[Span, ...], splits: dict[tuple[int, int], Split]) -> RstTree:
    """The tree over ``edus`` whose splits, in any order, are ``splits`` keyed by ``(start, end)``."""
    return RstTree(edus=edus, splits=tuple(_preorder(splits, len(edus))))


def _preorder(by_span: dict[tuple[int, int], Split], n: int) -> Iterator[Split]:
    stack = [(0, n)]
    while stack:
        start, end = stack.pop()
        if end - start < 2:
            continue
        split = by_span.get((start, end))
        if split is None:
            raise InvariantError(f"No split covers EDUs [{start}, {end}): the tree is not whole.")
        yield split
        stack += [(split.mid, end), (start, split.mid)]
