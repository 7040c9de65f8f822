"""A prompted parser on GUM, in the measures of the trained one: text in, its own EDUs and tree out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from discorag.discourse.parse.parser import TreeParser
from discorag.discourse.parse.trained.network import Network
from discorag.discourse.parse.trained.pieces import layout_of
from discorag.schema.discourse import Relation, RstTree
from discorag.schema.document import Chunk
from discorag.schema.errors import ModelError
from discorag.schema.values import Span
from discorag.text.sentences import sentence_spans
from training.parser.classes import class_of, class_of_relation
from training.parser.dis import GoldSplit
from training.parser.gum import GumDocument
from training.parser.parseval import Counter, Node, Parseval
from training.parser.score import windows


@dataclass
class Prompted:
    """What a prompted parser reaches: of ``asked`` texts ``failed`` gave no tree, and count as trees without nodes."""

    asked: int = 0
    failed: int = 0
    counter: Counter = field(default_factory=Counter)

    @property
    def scores(self) -> Parseval:
        """So far."""
        return self.counter.result()


Case = tuple[str, str, Sequence[Span], Sequence[GoldSplit]]
"""Id and text; the gold EDUs in offsets of the text, and the tree over them."""


def whole_documents(documents: Sequence[GumDocument]) -> list[Case]:
    """Each document as one text."""
    return [(d.id, d.text, d.edus, d.splits) for d in documents]


def cut_into_windows(documents: Sequence[GumDocument], network: Network) -> list[Case]:
    """The windows on which the trained parser is measured."""
    found: list[Case] = []
    for d in documents:
        for edus, splits in windows(d, network.pieces(layout_of(d.text))):
            start, end = edus[0].start, edus[-1].end
            moved = [Span(start=e.start - start, end=e.end - start) for e in edus]
            found.append((f"{d.id}-{start}", d.text[start:end], moved, splits))
    return found


async def score_prompted(
    parser: TreeParser,
    cases: Sequence[Case],
    *,
    of_label: Callable[[str], str] = class_of,
    of_relation: Callable[[Relation], str] = class_of_relation,
) -> Prompted:
    """Ask for every text's tree, as many at once as the model's gateway lets through.

    Args:
        parser: Is asked.
        cases: The texts.
        of_label: The class of a gold label.
        of_relation: The class of a relation that the parser gives.
    """
    found = await asyncio.gather(*(_tree(parser, id, text) for id, text, _, _ in cases))
    result = Prompted()
    for tree, (_, _, edus, splits) in zip(found, cases, strict=True):
        result.asked += 1
        result.failed += tree is None
        gold = [Node(edus[s.start].start, edus[s.end - 1].end, s.nuclearity, of_label(s.label)) for s in splits]
        result.counter.add(_nodes(tree, of_relation) if tree else [], gold)
        starts = [e.start for e in tree.edus[1:]] if tree else []
        result.counter.add_starts(starts, [e.start for e in edus[1:]])
    return result


async def _tree(parser: TreeParser, id: str, text: str) -> RstTree | None:
    sentences = sentence_spans(text)
    span = Span(start=0, end=len(text))
    chunk = Chunk(id=id, doc_id=id, order=0, span=span, text=text, sentences=sentences)
    try:
        return (await parser.parse(chunk)).value
    except ModelError:
        return None


def _nodes(tree: RstTree, of_relation: Callable[[Relation], str]) -> list[Node]:
    edus = tree.edus
    return [Node(edus[s.start].start, edus[s.end - 1].end, s.nuclearity, of_relation(s.relation)) for s in tree.splits]
