"""The trained network as a folder of graphs that `discorag.discourse.parse.trained.network.Network` reads."""

# torch is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from discorag.discourse.parse.trained.network import DESCRIPTION, ENCODER_FILE, Cuts, Description, Reading, Units
from discorag.models.packaged import MINILM, file_sha256
from discorag.schema.values import digest
from training.graphs import export_graph, quantize, without_encoder
from training.parser.model import WINDOW, Model
from training.parser.network import reading_of

_ENCODER = r"model\.encoder\."


def write(model: Model, folder: Path, encoder: str = MINILM.name) -> None:
    """Write a model's graphs and `Description`.

    Args:
        model: The model, in evaluation mode.
        folder: Made if it does not exist.
        encoder: The packaged encoder's name; another one's folder, or its name on the hub.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = model.folder / ENCODER_FILE
    graphs: dict[str, bytes] = {}
    for step in _steps(model):
        graph = export_graph(_Function(model, step.compute).eval(), step.inputs, step.outputs, step.axes)
        graphs[step.name] = quantize(without_encoder(graph, weights, _ENCODER)).SerializeToString()
        (folder / f"{step.name}.onnx").write_bytes(graphs[step.name])
    own_name = f"{Path(encoder).name}@{digest(b''.join(graphs.values()))[:8]}"
    description = Description(
        name="fast" if encoder == MINILM.name else own_name,
        encoder=encoder,
        encoder_sha256=file_sha256(weights) or "",
        window=WINDOW,
    )
    describe(folder, description)


def describe(folder: Path, description: Description) -> None:
    """Write the description of a folder of graphs."""
    (folder / DESCRIPTION).write_text(description.model_dump_json(indent=1) + "\n", "utf-8")


class _Function(nn.Module):
    """A part of a model's computation as a module of its own."""

    def __init__(self, model: Model, compute: Callable[..., Any]) -> None:
        super().__init__()
        self.model, self._compute = model, compute

    def forward(self, *inputs: Tensor) -> Any:
        return self._compute(*inputs)


class _Step(NamedTuple):
    """A graph: what it computes, examples of its inputs, and which axes of these have which length."""

    name: str
    compute: Callable[..., Any]
    inputs: Mapping[str, Tensor]
    outputs: tuple[str, ...]
    axes: Mapping[str, Mapping[int, str]]


def _steps(model: Model) -> Iterator[_Step]:
    """All graphs, with examples of two units of three tokens each."""
    network = model.network
    tokens = {"tokens": torch.randn(6, network.attend.in_features)}
    borders = {"borders": torch.randn(3, 2 * network.lstm.hidden_size)}
    cuts = {"places": torch.tensor([[0], [1], [2]]), "here": torch.tensor([0]), "most": torch.tensor([0])}
    cut_axes = {"borders": {0: "borders"}, "places": {1: "cuts"}, "here": {0: "cuts"}, "most": {0: "cuts"}}

    def read_units(tokens: Tensor, first: Tensor, last: Tensor, levels: Tensor, kind: Any, *members: Tensor) -> Any:
        units = network.unit_vectors(tokens, Units(first, last, levels, kind), *members)
        reading = reading_of(network.lstm(units.unsqueeze(0))[0][0], units)
        return reading.borders, reading.sums, reading.units

    yield _Step(
        "tokens",
        lambda ids: network.read(model.encode(ids)[0, 1:-1]),
        {"ids": torch.tensor([[101, 102, 103, 104]])},
        ("tokens",),
        {"ids": {1: "n"}},
    )
    yield _Step(
        "starts",
        lambda tokens, levels: network.boundaries(tokens, levels).sigmoid(),
        tokens | {"levels": torch.zeros(6, dtype=torch.long)},
        ("starts",),
        {"tokens": {0: "n"}, "levels": {0: "n"}},
    )
    yield _Step(
        "units",
        read_units,
        tokens
        | {"first": torch.tensor([0, 3]), "last": torch.tensor([3, 6]), "levels": torch.tensor([2, 1])}
        | {"kind": torch.tensor(0), "members": torch.arange(6), "owner": torch.tensor([0, 0, 0, 1, 1, 1])},
        ("borders", "sums", "units"),
        {"tokens": {0: "tokens"}, "members": {0: "members"}, "owner": {0: "members"}}
        | {name: {0: "n"} for name in ("first", "last", "levels")},
    )
    yield _Step(
        "splits",
        lambda borders, *cuts: network.split_scores(Reading(borders, borders, borders), Cuts(*cuts)),
        borders | cuts,
        ("scores",),
        cut_axes,
    )
    yield _Step(
        "labels",
        lambda borders, sums, units, *cuts: network.label_logits(Reading(borders, sums, units), Cuts(*cuts)),
        {**borders, "sums": borders["borders"], "units": torch.randn(2, network.unit.out_features), **cuts},
        ("logits",),
        cut_axes | {"sums": {0: "borders"}, "units": {0: "n"}},
    )
