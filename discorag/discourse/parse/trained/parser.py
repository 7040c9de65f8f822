"""The trained parser: raw text to EDUs and tree in one call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock

from discorag.discourse.parse.parser import Limits, ParsedTree
from discorag.discourse.parse.rules import RuleParser, rule_tree
from discorag.discourse.parse.trained.layout import layout_of
from discorag.discourse.parse.trained.network import PACKAGED_FOLDER, Description, Network, describe
from discorag.discourse.parse.trained.run import parse, parse_units
from discorag.discourse.parse.units import Leaves, Unit, sentences_in
from discorag.models.cancellation import raise_if_cancelled
from discorag.models.loops import PerLoop
from discorag.models.toolbox import Toolbox
from discorag.schema.chunk import Chunk
from discorag.schema.errors import InvariantError
from discorag.schema.hierarchy import UnitKind
from discorag.schema.rst_tree import RstTree
from discorag.schema.span import Span
from discorag.text.sentences import language_of

_LOG = logging.getLogger(__name__)
VERSION = "gum-5"


def trained_parser(tools: Toolbox, _limits: Limits) -> TrainedParser:
    """For the registry: the packaged parser, or the one in the folder that the settings name."""
    return TrainedParser(folder=tools.settings.parser.folder or PACKAGED_FOLDER)


class TrainedParser:
    """The local engine's parser: a `TreeParser` that runs in this process, by ONNX Runtime.

    Args:
        leaves: ``edu``, or ``sentence`` (DISRetrieval).
        folder: Of the network; it is read at the first text.

    Example:
        >>> from discorag.discourse.parse.trained.parser import TrainedParser
        >>> text = "Tides rise because the moon pulls the sea. However, few notice."
        >>> tree = TrainedParser().parse_text(text)
        >>> [edu.of(text) for edu in tree.edus]
        ['Tides rise', 'because the moon pulls the sea.', 'However, few notice.']
    """

    def __init__(self, leaves: Leaves = "edu", folder: Path = PACKAGED_FOLDER) -> None:
        self._folder = folder
        self._leaves: Leaves = leaves
        self._lock = Lock()
        self._turns = PerLoop(asyncio.Lock)
        self._network: Network | None = None
        self._warned = False

    @cached_property
    def _description(self) -> Description:
        return describe(self._folder)

    @property
    def name(self) -> str:
        """For the ledger."""
        return f"gum-{self._description.name}"

    @property
    def version(self) -> str:
        """Network and leaves."""
        return f"{VERSION}/{self._description.name}/{self._leaves}"

    async def parse(self, chunk: Chunk) -> ParsedTree:
        """The tree over the whole text of ``chunk``, in document offsets; for Chinese the rules', with a warning."""
        if language_of(chunk.text) != "en":
            self._warn()
            return ParsedTree(tree=rule_tree(chunk))
        start = chunk.span.start
        sentences = tuple(Span(start=s.start - start, end=s.end - start) for s in chunk.sentences)
        async with await self._turns.get():  # who waits takes no thread from others
            tree = await asyncio.to_thread(self.parse_text, chunk.text, sentences, chunk.paragraph_starts, chunk.kinds)
        return ParsedTree(tree=_moved(tree, start))

    def _warn(self) -> None:
        """Once, not for every chunk of a library."""
        if not self._warned:
            self._warned = True
            _LOG.warning("The trained parser knows English only: Chinese chunks get the rule-based parser's trees.")

    def parse_text(
        self,
        text: str,
        sentences: Sequence[Span] | None = None,
        paragraphs: Sequence[int] = (),
        kinds: Sequence[UnitKind] = (),
    ) -> RstTree:
        """The tree over ``text`` of any length; its EDUs hold every character that is not white space.

        Args:
            text: Raw text.
            sentences: Its sentences; found if not given.
            paragraphs: Indices of the sentences at which a paragraph starts; blank lines count if nothing is given.
            kinds: What each sentence is by its layout; without them nothing is known of headings, turns and code.

        Raises:
            InvariantError: The text is blank, or Chinese.
        """
        _check(text)
        raise_if_cancelled()
        return parse(self._loaded(), layout_of(text, sentences, paragraphs, kinds), self._leaves)

    def parse_units(self, texts: Sequence[str], kind: Unit = "paragraph") -> RstTree:
        """The tree over texts that are its leaves as they are: paragraphs, or summaries that stand for them.

        What is not English, or holds no word, gets the rules' tree.

        Args:
            texts: In order; each starts a paragraph, unless they are EDUs or sentences of one.
            kind: What they are.

        Returns:
            A tree whose EDU ``i`` is the span of ``texts[i]`` in the texts joined by blank lines (a space for EDUs
            and sentences), without white space around it.

        Raises:
            InvariantError: There are none, or one is blank.

        Source: DISRetrieval section 3.1, the trees between the paragraphs' trees.
        """
        whole = ("\n\n" if kind == "paragraph" else " ").join(texts)
        if not texts or not all(map(str.strip, texts)):
            raise InvariantError("There is nothing to parse in a blank text.", hint="Leave blank texts out.")
        if any(language_of(t) != "en" for t in texts) or not any(map(str.isalnum, whole)):
            return RuleParser().parse_units(texts, kind)
        raise_if_cancelled()
        return parse_units(self._loaded(), whole, sentences_in(texts, whole), kind)

    def _loaded(self) -> Network:
        with self._lock:
            if self._network is None:
                self._network = Network(self._folder)
            return self._network


def _check(text: str) -> None:
    if language_of(text) != "en":
        raise InvariantError("The trained parser knows English only.", hint="Use RuleParser for other languages.")
    if not text.strip():
        raise InvariantError("There is nothing to parse in a blank text.", hint="Leave blank texts out.")


def _moved(tree: RstTree, offset: int) -> RstTree:
    """The tree ``offset`` characters further on."""
    edus = tuple(Span(start=e.start + offset, end=e.end + offset) for e in tree.edus)
    return RstTree(edus=edus, splits=tree.splits)
