"""The parser's network over token states, as it is trained: where EDUs start, where spans split, how two sides relate.

Units (EDUs, sentences or paragraphs) become vectors, two LSTM layers read them in both directions, and a split
``(i, k, j)`` is scored from its three borders: the work for a span is linear in its length. The label, which is asked
for once for each split that was chosen, also sees what each side says on average, and the units at its ends.
"""

# torch and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from discorag.discourse.parse.trained.network import KINDS, Cuts, Reading, Units

_BUCKETS = 8
_LEVELS = 3
_TOKEN, _UNIT, _LSTM, _SPLIT = 256, 320, 192, 384  # widths of the layers


class Network(nn.Module):
    """Heads over token states of ``width`` numbers; ``labels`` are pairs of nuclearity and GUM label."""

    def __init__(self, width: int, labels: int, dropout: float = 0.3) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.tokens = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, _TOKEN), nn.GELU())
        self.token_level = nn.Embedding(_LEVELS, _TOKEN)
        self.near = nn.Sequential(nn.Conv1d(_TOKEN, _TOKEN, 5, padding=2), nn.GELU())
        self.starts = nn.Linear(2 * _TOKEN, 1)
        self.attend = nn.Linear(_TOKEN, 1)
        self.unit = nn.Linear(3 * _TOKEN, _UNIT)
        self.unit_level = nn.Embedding(_LEVELS, _UNIT)
        self.unit_length = nn.Embedding(_BUCKETS, _UNIT)
        self.unit_kind = nn.Embedding(len(KINDS), _UNIT)
        self.lstm = nn.LSTM(_UNIT, _LSTM, 2, batch_first=True, bidirectional=True, dropout=dropout)
        self.split = Borders()
        self.score = nn.Linear(_SPLIT, 1)
        self.label = Sides()
        self.labels = nn.Sequential(nn.Linear(_SPLIT, _SPLIT), nn.GELU(), nn.Dropout(dropout))
        self.label_scores = nn.Linear(_SPLIT, labels)

    def read(self, states: Tensor) -> Tensor:
        """Token vectors (tokens, token) from the encoder's states (tokens, width)."""
        return self.drop(self.tokens(states))

    def boundaries(self, tokens: Tensor, levels: Tensor) -> Tensor:
        """How much speaks for an EDU's start at each token, as logits, shape (tokens,)."""
        x = tokens + self.token_level(levels)
        near = self.near(x.T.unsqueeze(0)).squeeze(0).T
        return self.starts(self.drop(torch.cat([x, near], -1))).squeeze(-1)

    def read_units(self, tokens: Tensor, views: Sequence[Units[Tensor]]) -> list[Reading[Tensor]]:
        """For each view what is read of its units."""
        rows = [self._units(tokens, view) for view in views]
        lengths = torch.tensor([len(r) for r in rows])
        padded = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
        out = self.drop(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])
        return [reading_of(out[i, : len(row)], row) for i, row in enumerate(rows)]

    def _units(self, tokens: Tensor, view: Units[Tensor]) -> Tensor:
        lengths = view.last - view.first
        owner = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
        offset = torch.arange(len(owner)) - torch.repeat_interleave(lengths.cumsum(0) - lengths, lengths)
        return self.unit_vectors(tokens, view, view.first[owner] + offset, owner)

    def unit_vectors(self, tokens: Tensor, view: Units[Tensor], members: Tensor, owner: Tensor) -> Tensor:
        """A vector for each unit, shape (n, unit): its first and last token, and all of them by attention.

        Args:
            tokens: Shape (tokens, token).
            view: The n units.
            members: Indices of the tokens of all units, one unit after the other, shape (members,).
            owner: The unit of each, shape (members,).
        """
        inside = tokens[members]
        weight = self.attend(inside).clamp(-20, 20).exp()
        blank = torch.zeros(view.first.shape[0], 1 + tokens.shape[-1])  # an export traces shapes, and no lengths
        weighted = torch.cat([weight, inside * weight], -1)
        sums = blank.scatter_add(0, owner.unsqueeze(-1).expand_as(weighted), weighted)
        mean = sums[:, 1:] / sums[:, :1]
        x = self.unit(torch.cat([tokens[view.first], tokens[view.last - 1], mean], -1))
        x = x + self.unit_level(view.levels) + self.unit_length(bucket(view.last - view.first))
        return self.drop(nn.functional.gelu(x + self.unit_kind.weight[view.kind]))

    def split_scores(self, reading: Reading[Tensor], cuts: Cuts[Tensor]) -> Tensor:
        """Logits of cutting at ``k`` among the cuts of the same span, shape (cuts,)."""
        return self.score(self.drop(nn.functional.gelu(self.split(reading, cuts)))).squeeze(-1)

    def label_logits(self, reading: Reading[Tensor], cuts: Cuts[Tensor]) -> Tensor:
        """Logits over the labels, shape (cuts, labels)."""
        return self.label_scores(self.labels(self.drop(nn.functional.gelu(self.label(reading, cuts)))))


def reading_of(out: Tensor, units: Tensor) -> Reading[Tensor]:
    """What the LSTM's outputs, shape (n, 2 x lstm), say about the borders of n units."""
    ahead, back = out.chunk(2, -1)
    before = nn.functional.pad(ahead, (0, 0, 1, 0))  # what was read before a border
    behind = nn.functional.pad(back, (0, 0, 0, 1))  # what comes behind it
    return Reading(torch.cat([before, behind], -1), nn.functional.pad(out.cumsum(0), (0, 0, 1, 0)), units)


class Borders(nn.Module):
    """A vector for a cut: a layer over its three borders, the lengths of its sides and the layout."""

    def __init__(self) -> None:
        super().__init__()
        self.sides = nn.ModuleList(nn.Linear(2 * _LSTM, _SPLIT) for _ in range(3))
        self.left = nn.Embedding(_BUCKETS, _SPLIT)
        self.right = nn.Embedding(_BUCKETS, _SPLIT)
        self.layout = nn.Embedding(_LEVELS**2, _SPLIT)

    def forward(self, reading: Reading[Tensor], cuts: Cuts[Tensor]) -> Tensor:
        """Shape (cuts, split)."""
        i, k, j = cuts.places
        x = self.left(bucket(k - i)) + self.right(bucket(j - k)) + self.layout(_LEVELS * cuts.most + cuts.here)
        for side, at in zip(self.sides, (i, k, j), strict=True):
            x = x + side(reading.borders)[at]
        return x


class Sides(Borders):
    """The same with the mean of each side, and the first and last unit of each."""

    def __init__(self) -> None:
        super().__init__()
        self.means = nn.ModuleList(nn.Linear(2 * _LSTM, _SPLIT) for _ in range(2))
        self.ends = nn.ModuleList(nn.Linear(_UNIT, _SPLIT) for _ in range(4))

    def forward(self, reading: Reading[Tensor], cuts: Cuts[Tensor]) -> Tensor:
        """Shape (cuts, split)."""
        i, k, j = cuts.places
        x = super().forward(reading, cuts)
        for mean, (a, b) in zip(self.means, ((i, k), (k, j)), strict=True):
            x = x + mean((reading.sums[b] - reading.sums[a]) / (b - a).unsqueeze(1))
        for end, at in zip(self.ends, (i, k - 1, k, j - 1), strict=True):
            x = x + end(reading.units[at])
        return x


def bucket(lengths: Tensor) -> Tensor:
    """1, 2, 3-4, 5-8, ... as 0, 1, 2, 3, ...; the last bucket holds all that is longer."""
    return (lengths.unsqueeze(-1) > 2 ** torch.arange(_BUCKETS - 1)).sum(-1)
