"""Where the text stands that a reader gets: a leaf where it is, a summary where its sentences come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from discorag.text.headings import build_hierarchy
from discorag.trees.forest import Forest
from discorag.types.document import Document
from discorag.types.hierarchy import Kind
from discorag.types.span import Span
from eval.sample import DocSpan


class Shown:
    """The places of nodes' own texts; of a summary those sentences below it that it repeats word for word.

    All that an extractive summary says is found so, but the beginning of a sentence that alone is longer than it.

    Args:
        forest: The nodes, with their texts.
        documents: By id.
    """

    def __init__(self, forest: Forest, documents: Mapping[str, Document]) -> None:
        self._forest, self._documents = forest, documents
        self._sentences = {doc: _sentences(document) for doc, document in documents.items()}
        self._known: dict[int, list[DocSpan]] = {}

    def places(self, nodes: Sequence[int]) -> list[DocSpan]:
        """Of all these nodes, one after another."""
        return [place for node in nodes for place in self._of(node)]

    def _of(self, node: int) -> list[DocSpan]:
        if node not in self._known:
            doc, spans = self._forest.place(node)
            summarised = node >= self._forest.tree.leaves
            found = self._repeated(node, doc, spans) if summarised else spans
            self._known[node] = [DocSpan(doc=doc, span=span) for span in found]
        return self._known[node]

    def _repeated(self, node: int, doc: str, spans: Sequence[Span]) -> Iterator[Span]:
        said, text = _spaced(self._forest.tree.nodes[node].text), self._documents[doc].text
        inside = (s for s in self._sentences[doc] if any(w.start < s.end and s.start < w.end for w in spans))
        return (s for s in inside if _spaced(s.of(text)) in said)


def _sentences(document: Document) -> list[Span]:
    return [node.span for _, node in build_hierarchy(document).of_kind(Kind.SENTENCE)]


def _spaced(text: str) -> str:
    return f" {' '.join(text.split())} "
