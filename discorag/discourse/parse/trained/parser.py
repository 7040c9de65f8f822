"""The trained parser: raw text of any length to EDUs and tree in one call."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock

import numpy as np

from discorag.discourse.parse.parser import Limits, Unit, join_texts
from discorag.discourse.parse.rules import RuleParser, rule_tree
from discorag.discourse.parse.trained.decode import decode, most_likely, refine_relation
from discorag.discourse.parse.trained.network import (
    PACKAGED_FOLDER,
    Description,
    Floats,
    Network,
    describe,
    sentences_of,
)
from discorag.discourse.parse.trained.pieces import Layout, Level, Pieces, layout_of
from discorag.ingest.segment.layout import has_no_word
from discorag.models.loops import PerLoop, raise_if_cancelled
from discorag.models.protocol import TreeParser
from discorag.models.toolbox import Toolbox
from discorag.schema.answer import Outcome
from discorag.schema.discourse import RstTree, Split, from_splits
from discorag.schema.document import Chunk, UnitKind
from discorag.schema.values import Span
from discorag.text.sentences import language_of, stripped

START = 0.5
"""Probability from which a word starts an EDU."""


def find_edus(network: Network, text: str, pieces: Pieces, tokens: Floats, *, whole: Sequence[Span] = ()) -> list[Span]:
    """The EDUs: one starts at every sentence, and at every word that the segmenter takes for a start.

    No EDU starts inside a ``whole`` span, and none is only the mark that opens a sentence.
    """
    p = network.starts(tokens, pieces.levels)
    free = pieces.opens.copy()
    for span in whole:
        free[(pieces.starts > span.start) & (pieces.starts < span.end)] = False
    firm = pieces.levels > Level.INSIDE
    opens = (p > START) & free | firm
    opens[0] = False
    cuts = _join_wordless(
        text, pieces.starts[np.flatnonzero(opens)].tolist(), {*pieces.starts[firm].tolist(), 0, len(text)}
    )
    spans = (stripped(text, a, b) for a, b in pairwise(cuts))
    return [s for s in spans if s is not None]


def _join_wordless(text: str, cuts: Sequence[int], firm: Collection[int]) -> list[int]:
    """The cuts and both ends of the text, without the cuts that would make an EDU of signs alone.

    At the start of a sentence (``firm`` cuts) signs belong to what follows, as the number of a list item does.
    Elsewhere they belong to what comes before. A figure inside a sentence stays an EDU, as years and citations do in
    GUM.
    """
    remaining = [0]
    for cut in (*cuts, len(text)):
        alone = text[remaining[-1] : cut]
        if has_no_word(alone) and remaining[-1] not in firm and not any(map(str.isdigit, alone)):
            remaining.pop()
        elif has_no_word(alone) and remaining[-1] in firm and cut not in firm:
            continue
        remaining.append(cut)
    return remaining


def _tree(
    network: Network, layout: Layout, pieces: Pieces, tokens: Floats, spans: Sequence[Span], kind: Unit
) -> RstTree:
    text, opening = layout.text, layout.openers
    openers = [i for i, span in enumerate(spans) if span.start in opening]
    units = sentences_of(pieces, spans, kind)
    splits: dict[tuple[int, int], Split] = {}
    for d in decode(network, network.read(tokens, units), units.levels, openers=openers):
        nuclearity, relation, p = most_likely(d.label_ps)
        left = text[spans[d.start].start : spans[d.mid - 1].end]
        right = text[spans[d.mid].start : spans[d.end - 1].end]
        relation = refine_relation(relation, nuclearity, left, right)
        sure = network.confidence(d.split_p * p)
        splits[d.start, d.end] = Split(
            start=d.start, mid=d.mid, end=d.end, relation=relation, nuclearity=nuclearity, confidence=sure
        )
    return from_splits(tuple(spans), splits)


_LOG = logging.getLogger(__name__)
VERSION = "gum-6"


def trained_parser(tools: Toolbox, _limits: Limits) -> TreeParser:
    """The parser ``local``: the packaged one, or the one in the folder that the settings name."""
    return TrainedParser(folder=tools.settings.parser.folder or PACKAGED_FOLDER)


@cache
def _packaged_network() -> Network:
    """One for the process: to load it takes 0.3 s."""
    return Network()


class TrainedParser:
    """The local engine's parser: a `TreeParser` that runs in this process, by ONNX Runtime.

    The network is read from its folder at the first text.
    """

    def __init__(self, folder: Path = PACKAGED_FOLDER) -> None:
        self._folder = folder
        self._lock = Lock()
        self._turns = PerLoop(asyncio.Lock)
        self._network: Network | None = None
        self._warned = False

    @cached_property
    def _description(self) -> Description:
        return describe(self._folder)

    @property
    def name(self) -> str:
        """The network, for the ledger."""
        return f"gum-{self._description.name}"

    @property
    def version(self) -> str:
        """Network, and what its leaves are."""
        return f"{VERSION}/{self._description.name}/edu"

    async def parse(self, chunk: Chunk) -> Outcome[RstTree]:
        """The tree over the whole text of ``chunk``, in document offsets; for Chinese the rules', with a warning."""
        if language_of(chunk.text) != "en":
            if not self._warned:  # once, not for every chunk of a library
                _LOG.warning("The trained parser reads only English: Chinese chunks get the rule-based parser's trees.")
            self._warned = True
            return Outcome(value=rule_tree(chunk))
        start = chunk.span.start
        sentences = tuple(span.shifted(-start) for span in chunk.sentences)
        async with await self._turns.get():  # whatever waits here occupies no thread
            tree = await asyncio.to_thread(self.parse_text, chunk.text, sentences, chunk.paragraph_starts, chunk.kinds)
        return Outcome(value=RstTree(edus=tuple(edu.shifted(start) for edu in tree.edus), splits=tree.splits))

    def parse_text(
        self,
        text: str,
        sentences: Sequence[Span] | None = None,
        paragraphs: Sequence[int] = (),
        kinds: Sequence[UnitKind] = (),
    ) -> RstTree:
        """The tree over a raw text of any length; its EDUs hold every character that is not white space.

        The text is English and not blank. Sentences, and the indices of those that start a paragraph, are found if they
        are not given. Headings, turns and code are recognised only by the ``kinds`` of the sentences.
        """
        raise_if_cancelled()
        network, layout = self._load(), layout_of(text, sentences, paragraphs, kinds)
        pieces = network.pieces(layout)
        if not len(pieces.ids):  # nothing that the tokenizer knows, such as zero-width characters only
            whole = stripped(text, 0, len(text))
            assert whole is not None
            return RstTree(edus=(whole,))
        tokens = network.tokens(pieces)
        units = find_edus(network, text, pieces, tokens, whole=layout.whole)
        return _tree(network, layout, pieces, tokens, units, "edu")

    def parse_units(self, texts: Sequence[str], kind: Unit = "paragraph") -> RstTree:
        """The tree over texts that are its leaves: paragraphs, or summaries of them.

        Each text starts a paragraph, unless the texts are EDUs or sentences of one. EDU ``i`` is the span of
        ``texts[i]`` in the texts joined by blank lines (by spaces for EDUs and sentences), without white space around
        it. There is at least one, and none is blank. Texts that are not English, or hold no word, get the tree of the
        rules.

        Source: DISRetrieval section 3.1, the trees between the paragraphs' trees.
        """
        whole, units = join_texts(texts, kind)
        if any(language_of(t) != "en" for t in texts) or not any(map(str.isalnum, whole)):
            return RuleParser().parse_units(texts, kind)
        raise_if_cancelled()
        network = self._load()
        # the first character of a paragraph starts a sentence and a paragraph
        firsts = tuple(range(len(units))) if kind == "paragraph" else ()
        layout = layout_of(whole) if kind == "edu" else Layout(whole, units, firsts)
        pieces = network.pieces(layout)
        return _tree(network, layout, pieces, network.tokens(pieces), units, kind)

    def _load(self) -> Network:
        with self._lock:
            if self._network is None:
                self._network = _packaged_network() if self._folder == PACKAGED_FOLDER else Network(self._folder)
            return self._network
