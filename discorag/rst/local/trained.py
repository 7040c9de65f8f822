"""The trained parser: raw text to EDUs and tree in one call."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from discorag.errors import InvariantError
from discorag.hierarchy.node import Chunk
from discorag.rst.local.rules import rule_tree
from discorag.rst.parser import ParsedTree
from discorag.rst.tree import RstTree
from discorag.text.sentences import language_of
from discorag.text.span import Span

if TYPE_CHECKING:
    from discorag.rst.local.backbone import Transformer
    from discorag.rst.local.model import Model

Leaves = Literal["edu", "sentence"]
_LOG = logging.getLogger(__name__)
WEIGHTS = Path(__file__).parent / "weights"
VERSION = "gum-1"


@dataclass(frozen=True)
class Parsed:
    """A tree with how sure the parser is of each of its splits, from 0 to 1, in their order."""

    tree: RstTree
    confidence: tuple[float, ...]


class TrainedParser:
    """The local engine's parser: a `TreeParser` over the encoder that retrieval has loaded.

    Args:
        tier: ``fast`` (MiniLM) or ``accurate`` (mpnet).
        leaves: ``edu``, or ``sentence`` (DISRetrieval).
        transformer: The encoder, if it is loaded already; called at the first chunk.
    """

    def __init__(
        self, tier: str = "fast", leaves: Leaves = "edu", transformer: Callable[[], Transformer] | None = None
    ) -> None:
        self._tier, self._transformer = tier, transformer
        self._leaves: Leaves = leaves
        self._lock = threading.Lock()
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
        parsed = await asyncio.to_thread(self.parse_text, chunk.text, sentences, chunk.paragraph_starts)
        return ParsedTree(tree=_moved(parsed.tree, start))

    def _warn(self) -> None:
        """Once, not for every chunk of a library."""
        if not self._warned:
            self._warned = True
            _LOG.warning("The trained parser knows English only: Chinese chunks get the rule-based parser's trees.")

    def parse_text(self, text: str, sentences: Sequence[Span] | None = None, paragraphs: Sequence[int] = ()) -> Parsed:
        """The tree over ``text`` of any length; its EDUs hold every character that is not white space.

        Args:
            text: Raw text.
            sentences: Its sentences; found if not given.
            paragraphs: Indices of the sentences at which a paragraph starts; blank lines count if nothing is given.

        Raises:
            InvariantError: The text is blank, or Chinese.
        """
        if language_of(text) != "en":
            raise InvariantError("The trained parser knows English only.", hint="Use RuleParser for other languages.")
        if not text.strip():
            raise InvariantError("There is nothing to parse in a blank text.", hint="Leave blank texts out.")
        from discorag.rst.local.run import layout_of, parse

        with self._lock:  # fast tokenizers must not be shared by threads
            if self._model is None:
                self._model = self._load()
            return parse(self._model, layout_of(text, sentences, paragraphs), self._leaves)

    def _load(self) -> Model:
        from discorag.rst.local.tiers import TIERS, load

        tier = TIERS[self._tier]
        return load(tier, WEIGHTS / f"{tier.name}.safetensors", self._transformer)


def _moved(tree: RstTree, offset: int) -> RstTree:
    """The tree ``offset`` characters further on."""
    edus = tuple(Span(start=e.start + offset, end=e.end + offset) for e in tree.edus)
    return RstTree(edus=edus, splits=tree.splits)
