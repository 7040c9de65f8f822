"""The trained network as a folder of graphs that `discorag.discourse.parse.trained.network.Network` reads."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from discorag.discourse.parse.trained.network import DESCRIPTION, ENCODER_FILE, Cuts, Description, Reading, Units
from discorag.models.packaged import MINILM, file_sha256
from discorag.schema.values import digest
from training.graphs import export_graph, quantize, without_encoder
from training.parser.model import Model
from training.parser.network import reading_of

_ENCODER = r"model\.backbone\.encoder\."


@dataclass(frozen=True)
class _Step:
    """A graph: its module, examples of its inputs, names of its outputs, and which axes of inputs have which length."""

    module: nn.Module
    inputs: Mapping[str, Tensor]
    outputs: tuple[str, ...]
    axes: Mapping[str, Mapping[int, str]]


def write(model: Model, folder: Path, encoder: str = MINILM.name) -> None:
    """Write a model's graphs and `Description`.

    Args:
        model: In evaluation mode.
        folder: Made if it does not exist.
        encoder: The packaged encoder's name; another one's folder, or its name on the hub.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = model.folder / ENCODER_FILE
    graphs: dict[str, bytes] = {}
    for name, step in _steps(model).items():
        graph: Any = without_encoder(
            export_graph(step.module.eval(), step.inputs, step.outputs, step.axes), weights, _ENCODER
        )
        graphs[name] = quantize(graph).SerializeToString()
        (folder / f"{name}.onnx").write_bytes(graphs[name])
    own_name = f"{Path(encoder).name}@{digest(b''.join(graphs.values()))[:8]}"
    description = Description(
        name="fast" if encoder == MINILM.name else own_name,
        encoder=encoder,
        encoder_sha256=file_sha256(weights) or "",
        window=model.shape.window,
    )
    describe(folder, description)


def describe(folder: Path, description: Description) -> None:
    """Write the description of a folder of graphs."""
    (folder / DESCRIPTION).write_text(description.model_dump_json(indent=1) + "\n", "utf-8")


def _steps(model: Model) -> dict[str, _Step]:
    """All graphs, with examples of two units of three tokens each."""
    network = model.network
    tokens = torch.randn(6, network.attend.in_features)
    pair, whole = torch.tensor([0, 3]), torch.tensor([3, 6])
    borders = torch.randn(3, 2 * network.lstm.hidden_size)
    cut = {"places": torch.tensor([[0], [1], [2]]), "here": torch.tensor([0]), "most": torch.tensor([0])}
    cuts = {"places": {1: "cuts"}, "here": {0: "cuts"}, "most": {0: "cuts"}}
    units = {"first": pair, "last": whole, "levels": torch.tensor([2, 1]), "kind": torch.tensor(0)}
    members = {"members": torch.arange(6), "owner": torch.tensor([0, 0, 0, 1, 1, 1])}
    return {
        "tokens": _Step(_Tokens(model), {"ids": torch.tensor([[101, 102, 103, 104]])}, ("tokens",), {"ids": {1: "n"}}),
        "starts": _Step(
            _Starts(network),
            {"tokens": tokens, "levels": torch.zeros(6, dtype=torch.long)},
            ("starts",),
            {"tokens": {0: "n"}, "levels": {0: "n"}},
        ),
        "units": _Step(
            _Units(network),
            {"tokens": tokens, **units, **members},
            ("borders", "sums", "units"),
            {"tokens": {0: "tokens"}, "members": {0: "members"}, "owner": {0: "members"}}
            | {name: {0: "n"} for name in ("first", "last", "levels")},
        ),
        "splits": _Step(
            _Splits(network), {"borders": borders, **cut}, ("scores",), {"borders": {0: "borders"}, **cuts}
        ),
        "labels": _Step(
            _Labels(network),
            {"borders": borders, "sums": borders, "units": torch.randn(2, network.unit.out_features), **cut},
            ("logits",),
            {"borders": {0: "borders"}, "sums": {0: "borders"}, "units": {0: "n"}, **cuts},
        ),
    }


class _Part(nn.Module):
    """One step of the network as a module of its own."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model


class _Tokens(_Part):
    def forward(self, ids: Tensor) -> Tensor:
        return self.model.network.read(self.model.backbone(ids)[0, 1:-1])


class _Starts(_Part):
    def forward(self, tokens: Tensor, levels: Tensor) -> Tensor:
        return self.model.boundaries(tokens, levels).sigmoid()


class _Units(_Part):
    def forward(
        self, tokens: Tensor, first: Tensor, last: Tensor, levels: Tensor, kind: Any, members: Tensor, owner: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        units = self.model.unit_vectors(tokens, Units(first, last, levels, kind), members, owner)
        reading = reading_of(self.model.lstm(units.unsqueeze(0))[0][0], units)
        return reading.borders, reading.sums, reading.units


class _Splits(_Part):
    def forward(self, borders: Tensor, places: Tensor, here: Tensor, most: Tensor) -> Tensor:
        return self.model.split_scores(Reading(borders, borders, borders), Cuts(places, here, most))


class _Labels(_Part):
    def forward(
        self, borders: Tensor, sums: Tensor, units: Tensor, places: Tensor, here: Tensor, most: Tensor
    ) -> Tensor:
        return self.model.label_logits(Reading(borders, sums, units), Cuts(places, here, most))
