"""The document structure tree: a document's own headings over its own paragraphs.

Source: RDR² section 3.2. Structure nodes are headings, the root among them is the document's title; content nodes are
passages.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np

from discorag.retrieval.builders.base import Built, Source, inner
from discorag.schema.document import Hierarchy, Kind, Node
from discorag.schema.errors import EmptyDocumentError
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span
from discorag.text.sentences import stripped
from discorag.text.tokens import TokenCounter

_SEPARATOR = " > "
_WORD = re.compile(r"\S+")
_REMEMBERED = 50_000


class HeadingBuilder:
    """Headings as inner nodes, paragraphs as leaves (RDR² section 3.2).

    A leaf is a paragraph, a list, a table or a code block; one that exceeds the encoder's window is cut between
    sentences, and a sentence that exceeds it between words. An inner node's text is the path of headings down to its
    own, the document's title first; its ``heading`` is its own alone. The heading's line is no leaf, except where it
    is all that there is of a section. Where one section has the title as its heading and holds the whole document, it
    is the root; else the root is a node of its own, so a document without headings is one level of leaves under it.

    Args:
        tokens: The encoder's tokenizer; every node's text has at most ``tokens.max_tokens`` tokens. A text has as many
            as its words have together, as with WordPiece.

    Example:
        >>> from discorag.retrieval.builders.headings import HeadingBuilder
        >>> tree = asyncio.run(HeadingBuilder(encoder.tokens).build(source)).tree
        >>> [node.text for node in tree.nodes[tree.leaves :]]
        ['Tides > Spring tides', 'Tides']
    """

    name = "headings"

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._budget = tokens.max_tokens - tokens.special_tokens
        self._sizes = _WordSizes(tokens)

    @property
    def version(self) -> str:
        """Scheme and window."""
        return f"1/{self._tokens.max_tokens}"

    async def build(self, source: Source) -> Built:
        """The document structure tree of a document.

        Raises:
            EmptyDocumentError: The document holds no sentence.
        """
        text, hierarchy = source.document.text, source.hierarchy
        owners: list[int] = []
        nodes: list[RetrievalNode] = []
        for paragraph, owner in _content(hierarchy):
            for span in self._passages(text, hierarchy, paragraph):
                nodes.append(RetrievalNode(text=span.of(text), spans=(span,)))
                owners.append(owner)
        if not nodes:
            raise EmptyDocumentError(f"{source.document.uri} holds no paragraph.", hint="Leave blank documents out.")
        title = source.document.title or source.document.uri or self.name
        self._add_headings(nodes, owners, hierarchy, title)
        return Built(tree=RetrievalTree(builder=self.name, nodes=tuple(nodes)))

    def _add_headings(
        self, nodes: list[RetrievalNode], owners: Sequence[int], hierarchy: Hierarchy, title: str
    ) -> None:
        """Append the sections and the root to the leaves; ``owners`` says in which section each leaf stands."""
        below: dict[int, list[int]] = {}
        for leaf, owner in enumerate(owners):
            below.setdefault(owner, []).append(leaf)
        for index, section in _children_first(hierarchy):
            path = (title, *hierarchy.headings(index))
            below.setdefault(section.parent or 0, []).append(len(nodes))
            nodes.append(inner(nodes, below[index], self._path(path), heading=section.heading))
        top = nodes[-1]
        if len(below[0]) > 1 or top.heading != title:
            nodes.append(inner(nodes, below[0], self._path((title,)), heading=title))

    def _path(self, headings: Sequence[str]) -> str:
        """The headings as one text; of one longer than the window its last words, which are the most specific."""
        same = len(headings) > 1 and headings[0] == headings[1]
        path = _SEPARATOR.join(h for h in headings[same:] if h)
        [sizes] = self._sizes.of([path])
        if sum(sizes) <= self._budget:
            return path
        [tokens] = self._tokens.token_offsets([path])
        starts = [start for start, _ in tokens[-self._budget :]]
        return path[next((s for s in starts if path[s - 1].isspace()), starts[0]) :]

    def _passages(self, text: str, hierarchy: Hierarchy, paragraph: int) -> Iterator[Span]:
        """The paragraph, or pieces of it that fit the window."""
        span = hierarchy.nodes[paragraph].span
        sentences = [n.span for n in _sentences(hierarchy, paragraph)]
        sizes = self._sizes.of([sentence.of(text) for sentence in sentences])
        if sum(map(sum, sizes)) <= self._budget:
            yield span
            return
        units = [unit for found in zip(sentences, sizes, strict=True) for unit in self._units(text, *found)]
        starts = {sentence.start for sentence in sentences}
        for start, end in pairwise([span.start, *_cuts(text, units, starts, self._budget), span.end]):
            if piece := stripped(text, start, end):
                yield piece

    def _units(self, text: str, span: Span, sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Starts and tokens of the words in ``span``; of a word that exceeds the window, of its tokens."""
        for word, size in zip(_WORD.finditer(text, span.start, span.end), sizes, strict=True):
            if size <= self._budget:
                yield word.start(), size
            else:
                [tokens] = self._tokens.token_offsets([word[0]])
                yield from ((word.start() + start, 1) for start, _ in tokens)


class _WordSizes:
    """How many tokens words have. Each is tokenised once: tokenising whole texts takes most of a build's time."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._known: dict[str, int] = {}

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the tokens of each of its words."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        words = [text.split() for text in texts]
        if new := {word for found in words for word in found if word not in self._known}:
            self._learn(new)
        return [list(map(self._known.__getitem__, found)) for found in words]

    def _learn(self, words: Collection[str]) -> None:
        """All at once, as one text: a call for each word would take longer than the words."""
        [tokens] = self._tokens.token_offsets([" ".join(words)])
        ends = accumulate(len(word) + 1 for word in words)
        before = np.searchsorted([start for start, _ in tokens], [0, *ends])
        self._known.update(zip(words, np.diff(before).tolist(), strict=True))


def _content(hierarchy: Hierarchy) -> Iterator[tuple[int, int]]:
    """Paragraphs that are leaves, each with its section: all but headings that stand above anything."""
    members = Counter(n.parent for n in hierarchy.nodes)
    for index, paragraph in hierarchy.of_kind(Kind.PARAGRAPH):
        owner = paragraph.parent or 0
        section = hierarchy.nodes[owner]
        is_heading = section.kind is Kind.SECTION and section.span.start == paragraph.span.start
        if not is_heading or members[owner] == 1:
            yield index, owner


def _children_first(hierarchy: Hierarchy) -> list[tuple[int, Node]]:
    """Sections in text order of their ends, inner ones before those around them."""
    return sorted(hierarchy.of_kind(Kind.SECTION), key=lambda item: (item[1].span.end, -item[1].depth))


def _sentences(hierarchy: Hierarchy, paragraph: int) -> Iterator[Node]:
    for index in range(paragraph + 1, len(hierarchy.nodes)):
        if hierarchy.nodes[index].parent != paragraph:
            return
        yield hierarchy.nodes[index]


def _cuts(text: str, units: Sequence[tuple[int, int]], sentences: set[int], budget: int) -> Iterator[int]:
    """Where to cut, so that at most ``budget`` tokens lie between cuts: at sentences, else at white space, else not
    inside a word if that can be, since the parts of a word may have more tokens than the word.

    Args:
        text: The document's text.
        units: Where each word of the paragraph starts in it, and its tokens; none has more than ``budget``.
        sentences: Where its sentences start.
        budget: Tokens between two cuts.
    """
    starts = [start for start, _ in units]
    tokens = list(accumulate((size for _, size in units), initial=0))
    preferred: tuple[Callable[[int], bool], ...] = (
        lambda i: starts[i] in sentences,
        lambda i: text[starts[i] - 1].isspace(),
        lambda i: not text[starts[i] - 1 : starts[i] + 1].isalnum(),
    )
    at = 0
    while tokens[-1] - tokens[at] > budget:
        last = bisect_right(tokens, tokens[at] + budget) - 1
        candidates = range(last, at, -1)
        at = next((i for good in preferred for i in candidates if good(i)), last)
        yield starts[at]
