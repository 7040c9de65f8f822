"""The document structure tree: a document's own headings over its own paragraphs.

Source: RDR² section 3.2. Structure nodes are headings, the root among them is the document's title; content nodes are
passages.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice, pairwise, takewhile

import numpy as np

from discorag.retrieval.builders.base import Built, Source, inner, room
from discorag.schema.document import Hierarchy, Kind
from discorag.schema.errors import EmptyDocumentError
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span
from discorag.text.sentences import stripped
from discorag.text.tokens import TokenCounter

_SEPARATOR = " > "
_WORD = re.compile(r"\S+")


class HeadingBuilder:
    """Headings as inner nodes, paragraphs as leaves (RDR² section 3.2).

    A leaf is a paragraph, a list, a table or a code block; one that exceeds the encoder's window is cut between
    sentences, and a sentence that exceeds it between words. An inner node's text is the path of headings down to its
    own, the document's title first; its ``heading`` is its own alone. The heading's line is not a leaf, except where it
    is all that there is of a section. Where one section has the title as its heading and holds the whole document, it
    is the root; else the root is a node of its own, so a document without headings is one level of leaves under it.

    Args:
        tokens: The encoder's tokenizer; every node's text has at most ``tokens.max_tokens`` tokens. A text has as many
            as its words have together, as with WordPiece.
    """

    name = "headings"

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._budget = room(tokens)

    @property
    def version(self) -> str:
        """Scheme and window."""
        return f"1/{self._tokens.max_tokens}"

    async def build(self, source: Source) -> Built:
        """See `Builder.build`."""
        return await asyncio.to_thread(self._build, source)

    def _build(self, source: Source) -> Built:
        text, hierarchy = source.document.text, source.hierarchy
        below: defaultdict[int, list[int]] = defaultdict(list)
        nodes: list[RetrievalNode] = []
        paragraphs = list(_content(hierarchy))
        counted = self._tokens.token_offsets([hierarchy.nodes[i].span.of(text) for i, _ in paragraphs])
        for (paragraph, section), offsets in zip(paragraphs, counted, strict=True):
            for span in self._passages(text, hierarchy, paragraph, offsets):
                below[section].append(len(nodes))
                nodes.append(RetrievalNode(text=span.of(text), spans=(span,)))
        if not nodes:
            raise EmptyDocumentError(f"{source.document.uri} holds no paragraph.", hint="Leave blank documents out.")
        title = source.document.title or source.document.uri or self.name
        for index, section in sorted(hierarchy.of_kind(Kind.SECTION), key=lambda s: (s[1].span.end, -s[1].depth)):
            below[section.parent or 0].append(len(nodes))
            path = self._path((title, *hierarchy.headings(index)))
            nodes.append(inner(nodes, below[index], path, heading=section.heading))
        if len(below[0]) > 1 or nodes[-1].heading != title:
            nodes.append(inner(nodes, below[0], self._path((title,)), heading=title))
        return Built(tree=RetrievalTree(builder=self.name, nodes=tuple(nodes)))

    def _path(self, headings: Sequence[str]) -> str:
        """The headings as one text; of one longer than the window its last words, which are the most specific."""
        same = len(headings) > 1 and headings[0] == headings[1]
        path = _SEPARATOR.join(h for h in headings[same:] if h)
        [tokens] = self._tokens.token_offsets([path])
        if len(tokens) <= self._budget:
            return path
        starts = [start for start, _ in tokens[-self._budget :]]
        return path[next((s for s in starts if path[s - 1].isspace()), starts[0]) :]

    def _passages(
        self, text: str, hierarchy: Hierarchy, paragraph: int, offsets: Sequence[tuple[int, int]]
    ) -> Iterator[Span]:
        """The paragraph, whose tokens have these offsets in it, or pieces of it that fit the window."""
        span = hierarchy.nodes[paragraph].span
        if len(offsets) <= self._budget:
            yield span
            return
        children = takewhile(lambda node: node.parent == paragraph, islice(hierarchy.nodes, paragraph + 1, None))
        sentences = [node.span for node in children]
        units = list(self._units(text, sentences, [span.start + start for start, _ in offsets]))
        starts = {sentence.start for sentence in sentences}
        for start, end in pairwise([span.start, *_cuts(text, units, starts, self._budget), span.end]):
            if piece := stripped(text, start, end):
                yield piece

    def _units(self, text: str, sentences: Sequence[Span], tokens: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Starts and token counts of the words in sentences, or of the tokens of a word that exceeds the window.

        ``tokens`` are the starts of all tokens of the sentences.
        """
        words = [word for sentence in sentences for word in _WORD.finditer(text, sentence.start, sentence.end)]
        before = [*np.searchsorted(tokens, [word.start() for word in words]).tolist(), len(tokens)]
        for word, (first, end) in zip(words, pairwise(before), strict=True):
            if end - first <= self._budget:
                yield word.start(), end - first
            else:
                yield from ((start, 1) for start in tokens[first:end])


def _content(hierarchy: Hierarchy) -> Iterator[tuple[int, int]]:
    """Paragraphs that are leaves, each with its section: all but headings that stand above anything."""
    members = Counter(n.parent for n in hierarchy.nodes)
    for index, paragraph in hierarchy.of_kind(Kind.PARAGRAPH):
        owner = paragraph.parent or 0
        section = hierarchy.nodes[owner]
        is_heading = section.kind is Kind.SECTION and section.span.start == paragraph.span.start
        if not is_heading or members[owner] == 1:
            yield index, owner


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
