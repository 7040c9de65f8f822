"""Graphs for ONNX Runtime: exported from torch, with places in an encoder's file instead of that encoder's weights."""

# torch and onnx are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import re
import struct
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn

_OPSET = 18


def export_graph(
    module: nn.Module, inputs: Mapping[str, Tensor], outputs: Sequence[str], axes: Mapping[str, Mapping[int, str]]
) -> Any:
    """The graph of a module, with its weights inside.

    Args:
        module: The module, in evaluation mode.
        inputs: Examples, by name, in the order of the module's arguments.
        outputs: Names.
        axes: The axes of inputs that differ in length from call to call, by name and index.
    """
    with TemporaryDirectory() as folder, torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter's: it is the one that traces, and keeps names of weights
        torch.onnx.export(
            module,
            tuple(inputs.values()),
            str(Path(folder, "whole.onnx")),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: dict(named) for name, named in axes.items()},
            opset_version=_OPSET,
            do_constant_folding=False,
            dynamo=False,
        )
        return _plain(onnx.load(str(Path(folder, "whole.onnx"))))


def _plain(model: Any) -> Any:
    """Without notes on the source files that it was made from."""
    model.graph.doc_string = ""
    for node in model.graph.node:
        node.doc_string = ""
    return model


def without_encoder(model: Any, weights: Path, prefix: str) -> Any:
    """The graph with the places of the encoder's weights in their file instead of the weights.

    Weights that the file stores in 16 bits are cast to floats at loading; of a table, only the rows that are looked up.

    Args:
        model: The graph; it is changed.
        weights: The encoder's ``model.safetensors``.
        prefix: A pattern: what the names of the encoder's weights have in front of those in the file.
    """
    known = _places(weights)
    for tensor in model.graph.initializer:
        name = re.sub(rf"^{prefix}", "", tensor.name).replace(".linear.", ".")
        if name != tensor.name and name in known:
            kind, offset, length = known[name]
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", weights.name), ("offset", offset), ("length", length)):
                tensor.external_data.add(key=key, value=str(value))
            if kind == "F16":
                _read_as_half(model.graph, tensor)
    return model


def _read_as_half(graph: Any, tensor: Any) -> None:
    """Cast a weight in 16 bits to floats: after the nodes that look rows up in it, else before it is used."""
    name, half = tensor.name, f"{tensor.name}.half"
    tensor.name, tensor.data_type = half, onnx.TensorProto.FLOAT16
    lookups = [node for node in graph.node if node.op_type in ("Gather", "Transpose") and node.input[0] == name]
    for node in lookups:
        [found] = node.output
        node.input[0], node.output[0] = half, f"{found}.half"
        cast = helper.make_node("Cast", [f"{found}.half"], [found], to=onnx.TensorProto.FLOAT)
        graph.node.insert(list(graph.node).index(node) + 1, cast)
    if not lookups:
        graph.node.insert(0, helper.make_node("Cast", [half], [name], to=onnx.TensorProto.FLOAT))


def _places(weights: Path) -> dict[str, tuple[str, int, int]]:
    """Type, offset and length in bytes of each tensor in a file of safetensors."""
    with weights.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(size))
    found = dict[str, tuple[str, int, int]]()
    for name, entry in head.items():
        if name != "__metadata__":
            start, end = entry["data_offsets"]
            found[name] = entry["dtype"], 8 + size + start, end - start
    return found


def quantize(model: Any) -> Any:
    """The graph with its own matrices in 8 bits a number and a scale for each row; they become floats at loading.

    The graph is changed.
    """
    packed = [t for t in model.graph.initializer if _is_own_matrix(t)]
    for tensor in packed:
        value = numpy_helper.to_array(tensor)
        model.graph.initializer.remove(tensor)
        rows = value.reshape(len(value), -1)
        scale = np.maximum(np.abs(rows).max(1), 1e-8) / 127
        whole = np.round(rows / scale[:, np.newaxis]).astype(np.int8).reshape(value.shape)
        scale = scale.astype(np.float16).astype(np.float32).reshape(-1, *[1] * (value.ndim - 1))
        for name, part in ((f"{tensor.name}.whole", whole), (f"{tensor.name}.scale", scale)):
            model.graph.initializer.append(numpy_helper.from_array(part, name))
        cast = helper.make_node("Cast", [f"{tensor.name}.whole"], [f"{tensor.name}.cast"], to=onnx.TensorProto.FLOAT)
        product = helper.make_node("Mul", [f"{tensor.name}.cast", f"{tensor.name}.scale"], [tensor.name])
        model.graph.node.insert(0, product)
        model.graph.node.insert(0, cast)
    return model


def _is_own_matrix(tensor: Any) -> bool:
    is_float = tensor.data_type == onnx.TensorProto.FLOAT
    return is_float and len(tensor.dims) > 1 and tensor.data_location != onnx.TensorProto.EXTERNAL
