"""The encoder that retrieval uses, with low-rank updates of its own for parsing; the base weights are shared."""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, cast

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from discorag.models.encoder import halves_are_faster

_HALVES = halves_are_faster()
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

    Example:
        >>> from discorag.rst.trained.backbone import Shape
        >>> Shape(layers=(3, 6), adapted=1, rank=16).window
        256
    """

    layers: tuple[int, ...]
    adapted: int
    rank: int
    window: int = 256
    scale: float = 2.0


class Transformer(Protocol):
    """What is used of ``SentenceTransformer``: its first module."""

    auto_model: nn.Module
    tokenizer: Any


class LowRank(nn.Module):
    """``linear(x) + scale * x A B`` (LoRA, Hu et al. 2022); ``linear`` is frozen and not part of the weights.

    Example:
        >>> from torch import nn, ones
        >>> from discorag.rst.trained.backbone import LowRank
        >>> linear = nn.Linear(4, 2)
        >>> bool((LowRank(linear, rank=1, scale=2.0)(ones(1, 4)) == linear(ones(1, 4))).all())
        True
    """

    def __init__(self, linear: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        self.linear, self.scale = linear, scale
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.normal_(self.down, std=1 / rank)

    def forward(self, x: Tensor) -> Tensor:
        """Shape of ``linear``'s output."""
        update = nn.functional.linear(nn.functional.linear(x, self.down), self.up)
        return self.linear(x) + self.scale * update

    def merged(self) -> nn.Linear:
        """One linear layer that does the same."""
        whole = copy.deepcopy(self.linear)
        whole.weight.data += self.scale * self.up.data @ self.down.data
        return whole


class Backbone(nn.Module):
    """Token states of a text.

    Args:
        encoder: The transformer whose weights are shared, frozen.
        shape: What is used of it.

    Example:
        >>> from discorag.rst.trained.backbone import Backbone, Shape
        >>> from torch import ones
        >>> backbone = Backbone(minilm.transformer().auto_model, Shape(layers=(3, 6), adapted=1, rank=4))
        >>> ids = ones(1, 5, dtype=int)
        >>> tuple(backbone(ids, ids).shape) == (1, 5, backbone.width)
        True
    """

    def __init__(self, encoder: nn.Module, shape: Shape) -> None:
        super().__init__()
        shared: dict[int, Any] = {id(p): p for p in encoder.parameters()}
        self.encoder = copy.deepcopy(encoder, shared).requires_grad_(False)
        self.shape = shape
        for layer in self._stack()[shape.adapted - 1 :]:
            _adapt(layer, shape)

    @property
    def width(self) -> int:
        """Numbers per token."""
        return len(self.shape.layers) * cast(Any, self.encoder).config.hidden_size

    def _stack(self) -> Sequence[nn.Module]:
        return cast(Any, self.encoder).encoder.layer

    def train(self, mode: bool = True) -> Self:
        """The encoder's own dropout stays off: the heads have theirs."""
        return super().train(False)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Hidden states, shape (windows, pieces, width); in halves (bfloat16) where the processor is faster at them."""
        with torch.autocast(ids.device.type, dtype=torch.bfloat16, enabled=_HALVES):
            found = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return torch.cat([found.hidden_states[i] for i in self.shape.layers], -1)

    def merge(self) -> None:
        """Fold the updates into copies of the layers that they update, and keep linear layers in halves where the
        processor is faster at them, which else casts them for every text. No weights are shared any more.
        """
        for parent in list(self.encoder.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, LowRank):
                    setattr(parent, name, _in_halves(child.merged()))
                elif isinstance(child, nn.Linear) and not isinstance(parent, LowRank):
                    setattr(parent, name, _in_halves(copy.deepcopy(child)))


def _in_halves(linear: nn.Linear) -> nn.Linear:
    return linear.bfloat16() if _HALVES else linear


def _adapt(layer: nn.Module, shape: Shape) -> None:
    for parent in list(layer.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and name in _ADAPTED:
                setattr(parent, name, LowRank(child, shape.rank, shape.scale))


def tokenizer_of(transformer: Transformer) -> Tokenizer:
    """A copy of its tokenizer that neither cuts nor pads: threads must not share one."""
    tokenizer = Tokenizer.from_str(transformer.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
