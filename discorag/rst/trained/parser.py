"""The trained parser: raw text to EDUs and tree in one call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from discorag.models.encoder import PackagedEncoder
from discorag.models.loops import PerLoop
from discorag.models.toolbox import Toolbox
from discorag.models.wanted import check_wanted
from discorag.rst.parser import Limits, ParsedTree
from discorag.rst.rules import RuleParser, rule_tree
from discorag.rst.units import Leaves, Unit, units_in
from discorag.text.sentences import language_of
from discorag.types.chunk import Chunk
from discorag.types.errors import InvariantError
from discorag.types.hierarchy import UnitKind
from discorag.types.rst_tree import RstTree
from discorag.types.span import Span

if TYPE_CHECKING:
    from discorag.rst.trained.backbone import Transformer
    from discorag.rst.trained.model import Model

_LOG = logging.getLogger(__name__)
WEIGHTS = Path(__file__).parent / "weights"
VERSION = "gum-5"


def fast_parser(tools: Toolbox, _limits: Limits) -> TrainedParser:
    """For the registry: over the encoder that retrieval has loaded, if that is the packaged one."""
    encoder = tools.bare_encoder
    return TrainedParser("fast", transformer=encoder.transformer if isinstance(encoder, PackagedEncoder) else None)


def accurate_parser(tools: Toolbox, _limits: Limits) -> TrainedParser:
    """For the registry: over the encoder that the settings name, else over its own, from packages."""
    name = tools.settings.parser.encoder
    return TrainedParser("accurate", transformer=partial(_transformer, name) if name else None)


def _transformer(name: str) -> Any:
    from discorag.models.sentence_encoder import load_named

    return load_named(name)[0]


class TrainedParser:
    """The local engine's parser: a `TreeParser` over the encoder that retrieval has loaded.

    Args:
        tier: ``fast`` (MiniLM) or ``accurate`` (mpnet).
        leaves: ``edu``, or ``sentence`` (DISRetrieval).
        transformer: The encoder, if it is loaded already; called at the first chunk.

    Example:
        >>> from discorag.rst.trained.parser import TrainedParser
        >>> text = "Tides rise because the moon pulls the sea. However, few notice."
        >>> tree = TrainedParser("fast", transformer=minilm.transformer).parse_text(text)
        >>> [edu.of(text) for edu in tree.edus]
        ['Tides rise', 'because the moon pulls the sea.', 'However, few notice.']
    """

    def __init__(
        self, tier: str = "fast", leaves: Leaves = "edu", transformer: Callable[[], Transformer] | None = None
    ) -> None:
        self._tier, self._transformer = tier, transformer
        self._leaves: Leaves = leaves
        self._lock = Lock()
        self._turns = PerLoop(asyncio.Lock)
        self._model: Model | None = None
        self._warned = False

    @property
    def name(self) -> str:
        """For the ledger."""
        return f"gum-{self._tier}"

    @property
    def version(self) -> str:
        """Model, tier and leaves."""
        return f"{VERSION}/{self._tier}/{self._leaves}"

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
        from discorag.rst.trained.run import layout_of, parse

        check_wanted()
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
        from discorag.rst.trained.run import parse_units

        check_wanted()
        return parse_units(self._loaded(), whole, units_in(texts, whole), kind)

    def _loaded(self) -> Model:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> Model:
        from discorag.rst.trained.tiers import TIERS, load

        tier = TIERS[self._tier]
        return load(tier, WEIGHTS / f"{tier.name}.safetensors", self._transformer)


def _check(text: str) -> None:
    if language_of(text) != "en":
        raise InvariantError("The trained parser knows English only.", hint="Use RuleParser for other languages.")
    if not text.strip():
        raise InvariantError("There is nothing to parse in a blank text.", hint="Leave blank texts out.")


def _moved(tree: RstTree, offset: int) -> RstTree:
    """The tree ``offset`` characters further on."""
    edus = tuple(Span(start=e.start + offset, end=e.end + offset) for e in tree.edus)
    return RstTree(edus=edus, splits=tree.splits)
