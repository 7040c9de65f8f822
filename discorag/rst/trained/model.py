"""Segmenter and parser as one model: text in, EDUs and tree out; also what training needs of it."""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from discorag.models.loops import InTurn
from discorag.rst.gum_labels import LABELS, SAME_UNIT
from discorag.rst.trained.backbone import Backbone, Shape, Transformer, tokenizer_of
from discorag.rst.trained.network import KINDS, STEP, Network, Sizes, Units
from discorag.rst.trained.pieces import Ints, Pieces, cut_into_pieces
from discorag.text.layout import WHOLE, is_mark, without_speaker
from discorag.types.hierarchy import UnitKind
from discorag.types.rst_relations import Nuclearity
from discorag.types.span import Span

_BATCH = 8
_CERTAIN = 1e-4
_MULTINUCLEAR = frozenset(
    {"joint-list", "joint-other", "joint-sequence", "joint-disjunction", "adversative-contrast"}
    | {"restatement-repetition", SAME_UNIT}
)
JOINT_LABELS = tuple(
    (nuclearity, label)
    for label, nuclearity in product(LABELS, Nuclearity)
    if (label in _MULTINUCLEAR) == (nuclearity is Nuclearity.NN)
)
"""What the network tells apart: GUM's labels with the nuclearity that each can have."""


@dataclass(frozen=True)
class Layout:
    """A text and what is known of it before parsing.

    Args:
        text: Not empty.
        sentences: Spans of its sentences.
        paragraphs: Indices into ``sentences`` at which a paragraph starts (0 may be left out).
        kinds: What each sentence is by its layout; empty if that is not known.

    Example:
        >>> from discorag.rst.trained.model import Layout
        >>> from discorag.types.span import Span
        >>> layout = Layout("Tides rise. They fall.", (Span(start=0, end=11), Span(start=12, end=22)), paragraphs=())
        >>> [sentence.of(layout.text) for sentence in layout.sentences]
        ['Tides rise.', 'They fall.']
    """

    text: str
    sentences: tuple[Span, ...]
    paragraphs: tuple[int, ...]
    kinds: tuple[UnitKind, ...] = ()

    @property
    def whole(self) -> list[Span]:
        """Stretches in which no EDU starts: what its layout makes one unit, and a speaker with the word behind it."""
        told = zip(self.sentences, self.kinds, strict=True) if self.kinds else ()
        return [s if kind in WHOLE else _label_of(s, self.text) for s, kind in told if kind in WHOLE | {UnitKind.TURN}]

    @property
    def openers(self) -> frozenset[int]:
        """Where sentences start that only open what follows: headings, and marks and names that stand alone."""
        told = zip(self.sentences, self.kinds, strict=True) if self.kinds else ()
        return frozenset(s.start for s, kind in told if kind is UnitKind.HEADING or is_mark(s.of(self.text)))


def _label_of(turn: Span, text: str) -> Span:
    """The name at the start of a turn, and the first character of what is said."""
    said = without_speaker(turn.of(text)).lstrip()
    return Span(start=turn.start, end=min(turn.end, turn.end - len(said) + 1))


class Model(nn.Module):
    """Encoder with updates, and the heads.

    Example:
        >>> from discorag.rst.trained.model import Layout, Model
        >>> from discorag.rst.trained.tiers import TIERS
        >>> from discorag.types.span import Span
        >>> model = Model(minilm.transformer(), TIERS["fast"].shape, TIERS["fast"].sizes)
        >>> pieces = model.pieces(Layout("Tides rise.", (Span(start=0, end=11),), ()))
        >>> tuple(model.tokens(pieces).shape)
        (3, 256)
    """

    def __init__(self, transformer: Transformer, shape: Shape, sizes: Sizes) -> None:
        super().__init__()
        self.backbone = Backbone(transformer.auto_model, shape)
        self.network = Network(self.backbone.width, len(JOINT_LABELS), sizes)
        self.shape = shape
        self.tokenizer: Tokenizer = tokenizer_of(transformer)
        self._turns = InTurn()  # fast tokenizers must not be shared by threads
        special = transformer.tokenizer
        self.sure: tuple[float, float] | None = None
        """Slope and shift from the odds of cut and label to the odds that a node is right; None: not fitted."""
        self._first, self._last, self._pad = special.cls_token_id, special.sep_token_id, special.pad_token_id

    def pieces(self, layout: Layout, *, first: int = 0) -> Pieces:
        """The text's word pieces; ``first`` as in `cut_into_pieces`."""
        size = self.shape.window - 2
        with self._turns:
            return cut_into_pieces(
                layout.text, layout.sentences, layout.paragraphs, self.tokenizer, size=size, first=first
            )

    def states(self, texts: Sequence[Pieces]) -> Tensor:
        """The encoder's states of all texts' pieces, shape (pieces, width), in one pass."""
        return self._encoded([p.ids[a:b] for p in texts for a, b in p.windows])

    def tokens(self, pieces: Pieces) -> Tensor:
        """Token vectors of a text of any length, shape (pieces, token), a few windows at a time."""
        rows = [pieces.ids[a:b] for a, b in pieces.windows]
        batches = (rows[i : i + _BATCH] for i in range(0, len(rows), _BATCH))
        return torch.cat([self.network.read(self._encoded(batch)) for batch in batches])

    def _encoded(self, rows: Sequence[Ints]) -> Tensor:
        width = -(-(max(map(len, rows)) + 2) // STEP) * STEP
        ids = np.full((len(rows), width), self._pad, dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row) + 2] = [self._first, *row, self._last]
            mask[at, : len(row) + 2] = 1
        states = self.backbone(torch.from_numpy(ids), torch.from_numpy(mask))
        return torch.cat([states[at, 1 : len(row) + 1] for at, row in enumerate(rows)]).float()

    def confidence(self, p: float) -> float:
        """How often a node is right to whose cut and label the network gives ``p`` (Platt 1999)."""
        if self.sure is None:
            return min(1.0, p)
        slope, shift = self.sure
        return 1 / (1 + math.exp(-slope * odds(p) - shift))

    def trained(self) -> dict[str, Tensor]:
        """The weights that are not the shared encoder's."""
        return {name: p.detach() for name, p in self.named_parameters() if p.requires_grad}


def odds(p: float) -> float:
    """The logarithm of the odds; certainty is cut off.

    Example:
        >>> from discorag.rst.trained.model import odds
        >>> odds(0.5)
        0.0
    """
    kept = min(max(p, _CERTAIN), 1 - _CERTAIN)
    return math.log(kept / (1 - kept))


def units_of(pieces: Pieces, spans: Sequence[Span], kind: str) -> Units:
    """Spans of a text as units of its word pieces."""
    ranges = np.array([pieces.range_of(s) for s in spans], dtype=np.int64).reshape(-1, 2)
    first, last = torch.from_numpy(ranges.T.copy())
    return Units(first, last, torch.from_numpy(pieces.levels)[first], KINDS.index(kind))
