"""An encoder with low-rank updates for parsing, as it is trained."""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

import torch
from torch import Tensor, nn

_ADAPTED = frozenset({"query", "key", "value", "q", "k", "v", "o", "dense"})


@dataclass(frozen=True)
class Shape:
    """What of an encoder is used.

    Args:
        layers: Which hidden states are read (0 is the embeddings), joined along the last axis.
        adapted: The first layer with low-rank updates, one-based.
        rank: Of the updates.
        window: Word pieces that are encoded at once, special tokens included.
        scale: Of the updates, before they are added.
    """

    layers: tuple[int, ...]
    adapted: int
    rank: int
    window: int = 256
    scale: float = 2.0


class LowRank(nn.Module):
    """``linear(x) + scale * x A B`` (LoRA, Hu et al. 2022); ``linear`` is frozen and not part of the weights."""

    def __init__(self, linear: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.linear, self.scale = linear, scale
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.normal_(self.down, std=1 / rank)

    def forward(self, x: Tensor) -> Tensor:
        """Shape of ``linear``'s output."""
        if torch.onnx.is_in_onnx_export():  # one product; what is constant in it is computed when the graph is loaded
            return nn.functional.linear(x, self.linear.weight + self.scale * self.up @ self.down, self.linear.bias)
        update = nn.functional.linear(nn.functional.linear(x, self.down), self.up)
        return self.linear(x) + self.scale * update


class Backbone(nn.Module):
    """Token states of a text.

    Args:
        encoder: The transformer, whose weights are frozen.
        shape: What is used of it.
    """

    def __init__(self, encoder: nn.Module, shape: Shape) -> None:
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.shape = shape
        for layer in cast(Any, self.encoder).encoder.layer[shape.adapted - 1 :]:
            _adapt(layer, shape)

    @property
    def width(self) -> int:
        """Numbers per token."""
        return len(self.shape.layers) * cast(Any, self.encoder).config.hidden_size

    def train(self, mode: bool = True) -> Self:
        """The encoder's own dropout stays off: the heads have theirs."""
        return super().train(False)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Hidden states, shape (windows, pieces, width); without a mask no window is padded."""
        found = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return torch.cat([found.hidden_states[i] for i in self.shape.layers], -1)


def _adapt(layer: nn.Module, shape: Shape) -> None:
    for parent in list(layer.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and name in _ADAPTED:
                setattr(parent, name, LowRank(child, shape.rank, shape.scale))
