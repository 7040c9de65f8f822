"""RDR²'s document structure tree: a document's own headings over its own paragraphs."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile

from discorag.models.protocol import TokenCounter
from discorag.retrieval.builders.base import Built, Source, chunk_leaves, inner, room, units_of
from discorag.schema.document import Hierarchy, Kind
from discorag.schema.errors import InputError
from discorag.schema.retrieval_tree import RetrievalNode, RetrievalTree
from discorag.schema.values import Span

_SEPARATOR = " > "
_SPARE = 2  # a cut inside a word can make new tokens


class HeadingBuilder:
    """Headings as inner nodes, paragraphs as leaves (RDR² section 3.2).

    A leaf is a paragraph, a list, a table or a code block. If it exceeds the encoder's window, it is cut between
    sentences; a sentence that exceeds the window is cut between tokens. The text of an inner node is the path of
    headings from the document's title down to its own heading. The line of a heading is a leaf only if its section
    holds nothing else. A section that has the title as its heading and holds the whole document is the root; otherwise
    the root is a node of its own. So a document without headings has one level of leaves under the root.

    Args:
        tokens: The encoder's tokenizer; every node's text has at most ``tokens.max_tokens`` tokens. A text must have as
            many tokens as its words have together, as with WordPiece.
    """

    name = "headings"

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._budget = room(tokens)
        self.version = f"2/{tokens.max_tokens}"

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
            for span in self._passages(source, paragraph, len(offsets)):
                below[section].append(len(nodes))
                nodes.append(RetrievalNode(text=span.of(text), spans=(span,)))
        if not nodes:
            raise InputError(f"{source.document.uri} holds no paragraph.", hint="Leave blank documents out.")
        title = source.document.title or source.document.uri or self.name
        for index, section in sorted(hierarchy.of_kind(Kind.SECTION), key=lambda s: (s[1].span.end, -s[0])):
            below[section.parent or 0].append(len(nodes))
            path = self._path((title, *hierarchy.headings(index)))
            nodes.append(inner(nodes, below[index], path, heading=section.heading))
        if len(below[0]) > 1 or nodes[-1].heading != title:
            nodes.append(inner(nodes, below[0], self._path((title,)), heading=title))
        return Built(tree=RetrievalTree(builder=self.name, nodes=tuple(nodes)))

    def _path(self, headings: Sequence[str]) -> str:
        """The headings as one text; if it exceeds the window, its last words, which are the most specific."""
        same = len(headings) > 1 and headings[0] == headings[1]
        path = _SEPARATOR.join(h for h in headings[same:] if h)
        [tokens] = self._tokens.token_offsets([path])
        if len(tokens) <= self._budget:
            return path
        starts = [start for start, _ in tokens[-self._budget :]]
        return path[next((s for s in starts if path[s - 1].isspace()), starts[0]) :]

    def _passages(self, source: Source, paragraph: int, tokens: int) -> list[Span]:
        """The paragraph, or its pieces if it does not fit the window."""
        nodes = source.hierarchy.nodes
        if tokens <= self._budget:
            return [nodes[paragraph].span]
        sentences = takewhile(lambda i: nodes[i].parent == paragraph, range(paragraph + 1, len(nodes)))
        units = units_of(source, self._tokens, [(i, nodes[i]) for i in sentences])
        limit = self._budget - _SPARE
        return [leaf.spans[0] for leaf in chunk_leaves(source, units, tokens=limit)]


def _content(hierarchy: Hierarchy) -> Iterator[tuple[int, int]]:
    """Paragraphs that are leaves, each with its section: all except headings of sections that hold more."""
    members = Counter(n.parent for n in hierarchy.nodes)
    for index, paragraph in hierarchy.of_kind(Kind.PARAGRAPH):
        owner = paragraph.parent or 0
        section = hierarchy.nodes[owner]
        is_heading = section.kind is Kind.SECTION and section.span.start == paragraph.span.start
        if not is_heading or members[owner] == 1:
            yield index, owner
