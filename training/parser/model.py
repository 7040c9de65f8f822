"""Encoder and heads as one torch module: what training needs of the parser."""

# torch and transformers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModel

from discorag.discourse.parse.gum_labels import JOINT_LABELS
from discorag.discourse.parse.trained.network import KINDS, Units, unit_ranges
from discorag.discourse.parse.trained.pieces import Layout, Pieces, Tokenization
from discorag.schema.values import Span
from training.parser.network import Network

WINDOW = 256
"""Word pieces that are encoded at once, special tokens included."""
_ADAPTED = frozenset({"query", "key", "value", "q", "k", "v", "o", "dense"})
_RANK, _SCALE = 16, 2.0


class LowRank(nn.Module):
    """``linear(x) + scale * x A B`` (LoRA, Hu et al. 2022); ``linear`` is frozen and not part of the weights."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.empty(_RANK, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, _RANK))
        nn.init.normal_(self.down, std=1 / _RANK)

    def forward(self, x: Tensor) -> Tensor:
        """Shape of ``linear``'s output."""
        if torch.onnx.is_in_onnx_export():  # one product; what is constant in it is computed when the graph is loaded
            return nn.functional.linear(x, self.linear.weight + _SCALE * self.up @ self.down, self.linear.bias)
        update = nn.functional.linear(nn.functional.linear(x, self.down), self.up)
        return self.linear(x) + _SCALE * update


class Model(nn.Module):
    """An encoder with low-rank updates in all layers, and the heads over its states in the middle and at the end.

    Args:
        folder: The encoder's: ``config.json``, ``model.safetensors`` and ``tokenizer.json``.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.encoder: Any = AutoModel.from_pretrained(str(folder), local_files_only=True).requires_grad_(False)
        for parent in list(self.encoder.encoder.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, nn.Linear) and name in _ADAPTED:
                    setattr(parent, name, LowRank(child))
        config = self.encoder.config
        self._layers = (config.num_hidden_layers // 2, config.num_hidden_layers)
        self._pad = int(config.pad_token_id)
        self.network = Network(len(self._layers) * config.hidden_size, len(JOINT_LABELS))
        self._tokenization = Tokenization(folder / "tokenizer.json", WINDOW)

    def train(self, mode: bool = True) -> Self:
        """The encoder's own dropout stays off: the heads have theirs."""
        super().train(mode)
        self.encoder.eval()
        return self

    def pieces(self, layout: Layout, *, first: int = 0) -> Pieces:
        """The text's word pieces; ``first`` as in `Tokenization.pieces`."""
        return self._tokenization.pieces(layout, first=first)

    def encode(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Hidden states, shape (windows, pieces, width); without a mask no window is padded."""
        found = self.encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        return torch.cat([found.hidden_states[i] for i in self._layers], -1)

    def states(self, texts: Sequence[Pieces]) -> Tensor:
        """The encoder's states of all texts' pieces, shape (pieces, width), in one pass."""
        rows = [self._tokenization.framed(p.ids[a:b]) for p in texts for a, b in p.windows]
        ids = pad_sequence([torch.from_numpy(row) for row in rows], batch_first=True, padding_value=self._pad)
        mask = pad_sequence([torch.ones(len(row), dtype=torch.long) for row in rows], batch_first=True)
        states = self.encode(ids, mask)
        return torch.cat([states[at, 1 : len(row) - 1] for at, row in enumerate(rows)])

    def trained(self) -> dict[str, Tensor]:
        """The weights that are not the encoder's own."""
        return {name: p.detach() for name, p in self.named_parameters() if p.requires_grad}


def sentences_of(pieces: Pieces, spans: Sequence[Span], kind: str) -> Units[Tensor]:
    """Spans of a text as units of its word pieces."""
    first, last = torch.from_numpy(unit_ranges(pieces, spans))
    return Units(first, last, torch.from_numpy(pieces.levels)[first], KINDS.index(kind))
