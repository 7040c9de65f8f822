"""The packaged encoder with a low-rank update, over evidence and sentence together, and three classes on top."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn

from discorag.rst.trained.backbone import Backbone, Shape, Transformer
from training.judge.pairs import ENTAILED, UNSAID, Batch


class CrossEncoder(nn.Module):
    """Logits of entailed, neutral, contradicted.

    Args:
        transformer: The encoder.
        rank: Of its update, in all layers.
    """

    def __init__(self, transformer: Transformer, rank: int) -> None:
        super().__init__()
        encoder = transformer.auto_model
        layers = cast(Any, encoder).config.num_hidden_layers
        self.backbone = Backbone(encoder, Shape(layers=(layers,), adapted=1, rank=rank, window=512, scale=1.0))
        width = self.backbone.width
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh(), nn.Dropout(0.1), nn.Linear(width, 3))

    def forward(self, batch: Batch) -> Tensor:
        """Shape (pairs, 3): from the first state and the mean of the sentence's."""
        states = self.backbone(batch.ids, batch.mask).float()
        inside = batch.sentence.unsqueeze(-1).to(states.dtype)
        mean = (states * inside).sum(1) / inside.sum(1).clamp(min=1)
        return self.head(torch.cat([states[:, 0], mean], dim=-1))


def loss_of(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy; of a pair that is `UNSAID`, that of not being entailed."""
    logs = logits.log_softmax(-1)
    known = labels != UNSAID
    exact = logs.gather(1, labels.clamp(max=2).unsqueeze(1)).squeeze(1)
    rest = logs[:, ENTAILED + 1 :].logsumexp(-1)
    return -torch.where(known, exact, rest).mean()
