"""Encoder and heads as one torch module: what training needs of the parser."""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel

from discorag.discourse.parse.gum_labels import JOINT_LABELS
from discorag.discourse.parse.trained.network import KINDS, Units, unit_ranges
from discorag.discourse.parse.trained.pieces import Ints, Layout, Pieces, Tokenization
from discorag.schema.values import Span
from training.parser.backbone import Backbone, Shape
from training.parser.network import Network, Sizes


class Model(nn.Module):
    """Encoder with low-rank updates, and the heads.

    Args:
        encoder: Folder of the encoder: ``config.json``, ``model.safetensors`` and ``tokenizer.json``.
        sizes: Of the heads.
        shape: What is used of the encoder. None: the states in the middle and at the end, updates in all layers.
    """

    def __init__(self, encoder: Path, sizes: Sizes | None = None, shape: Shape | None = None) -> None:
        super().__init__()
        transformer = AutoModel.from_pretrained(str(encoder), local_files_only=True)
        layers = int(transformer.config.num_hidden_layers)
        self.folder = encoder
        self.shape = shape or Shape(layers=(layers // 2, layers), adapted=1, rank=16)
        self.backbone = Backbone(transformer, self.shape)
        self.network = Network(self.backbone.width, len(JOINT_LABELS), sizes or Sizes())
        self._tokenization = Tokenization(encoder / "tokenizer.json", self.shape.window)
        self._pad = int(transformer.config.pad_token_id)

    def pieces(self, layout: Layout, *, first: int = 0) -> Pieces:
        """The text's word pieces; ``first`` as in `Tokenization.pieces`."""
        return self._tokenization.pieces(layout, first=first)

    def states(self, texts: Sequence[Pieces]) -> Tensor:
        """The encoder's states of all texts' pieces, shape (pieces, width), in one pass."""
        rows = [self._tokenization.framed(p.ids[a:b]) for p in texts for a, b in p.windows]
        ids, mask = _pad_rows(rows, self._pad)
        states = self.backbone(ids, mask)
        return torch.cat([states[at, 1 : len(row) - 1] for at, row in enumerate(rows)])

    def trained(self) -> dict[str, Tensor]:
        """The weights that are not the encoder's own."""
        return {name: p.detach() for name, p in self.named_parameters() if p.requires_grad}


def sentences_of(pieces: Pieces, spans: Sequence[Span], kind: str) -> Units[Tensor]:
    """Spans of a text as units of its word pieces."""
    first, last = torch.from_numpy(unit_ranges(pieces, spans))
    return Units(first, last, torch.from_numpy(pieces.levels)[first], KINDS.index(kind))


def _pad_rows(rows: Sequence[Ints], pad: int) -> tuple[Tensor, Tensor]:
    """Rows of ids as one tensor, and a mask over what is not padding, both of shape (rows, longest)."""
    width = max(map(len, rows))
    ids, mask = (np.full((len(rows), width), value, dtype=np.int64) for value in (pad, 0))
    for at, row in enumerate(rows):
        ids[at, : len(row)], mask[at, : len(row)] = row, 1
    return torch.from_numpy(ids), torch.from_numpy(mask)
