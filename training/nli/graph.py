"""The reranker's int8 file as a model that can be trained, and a trained model as such a file.

The graph of ms-marco-MiniLM-L-12-v2 stays as it is, so a judged pair costs what a reranked one costs; only its numbers
are exchanged, and the last layer has three outputs.
"""

# torch, transformers and onnx are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification

_QUANTIZED = "_quantized"
Floats = NDArray[np.float32]


def start_model(folder: Path, classes: int, seed: int = 0) -> BertForSequenceClassification:
    """The packaged reranker in floats; with more than its one class a new last layer, drawn by ``seed``."""
    torch.manual_seed(seed)
    shape = BertConfig(
        hidden_size=384,
        intermediate_size=1536,
        num_hidden_layers=12,
        num_attention_heads=12,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        classifier_dropout=0.0,
    )
    shape.num_labels = classes
    model = BertForSequenceClassification(shape)
    state = {name: torch.from_numpy(values) for name, values in floats_of(folder / "model.onnx").items()}
    if classes > 1:
        state |= {n: p.detach() for n, p in model.classifier.named_parameters(prefix="classifier")}
    model.load_state_dict(state)
    return model


def floats_of(file: Path) -> dict[str, Floats]:
    """The weights of a quantised file by their names in torch."""
    graph = onnx.load(file)
    stored = {i.name: numpy_helper.to_array(i) for i in graph.graph.initializer}
    found = {name: values for name, values in stored.items() if values.dtype == np.float32 and values.ndim > 0}
    found = {name: values for name, values in found.items() if name.startswith(("bert.", "classifier."))}
    for at, name, turned in _places(graph):
        whole = (stored[at + _QUANTIZED].astype(np.float32) - stored[f"{at}_zero_point"]) * stored[f"{at}_scale"]
        found[name] = np.ascontiguousarray(whole.T if turned else whole, dtype=np.float32)
    return {name: np.array(values) for name, values in found.items() if not name.endswith("_scale")}


def _places(graph: onnx.ModelProto) -> Iterator[tuple[str, str, bool]]:
    """Where a weight is in the graph, its name in torch, and whether it is transposed there."""
    stored = {i.name for i in graph.graph.initializer}
    for name in sorted(stored):
        if name.startswith("bert.embeddings.") and name.endswith(_QUANTIZED):
            yield name.removesuffix(_QUANTIZED), name.removesuffix(_QUANTIZED), False
    for node in graph.graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in stored:
            layer = node.name.rsplit("/", 1)[0].strip("/").replace("/", ".")
            yield node.input[1].removesuffix(_QUANTIZED), f"{layer}.weight", True


def write_graph(folder: Path, state: Mapping[str, Tensor], out: Path) -> None:
    """Write a trained model as ``out``, in the graph of the file in ``folder``."""
    graph = onnx.load(folder / "model.onnx")
    values = {name: value.detach().float().cpu().numpy() for name, value in state.items()}
    new: dict[str, NDArray[Any]] = {}
    for at, name, turned in _places(graph):
        whole, scale, zero = _quantize_signed(values[name].T) if turned else _quantize_unsigned(values[name])
        new |= {at + _QUANTIZED: whole, f"{at}_scale": scale, f"{at}_zero_point": zero}
    for stored in graph.graph.initializer:
        if (value := new.get(stored.name, values.get(stored.name))) is not None:
            stored.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(value), stored.name))
    del graph.graph.value_info[:]  # shapes of the reranker's one class
    graph.graph.output[0].type.tensor_type.shape.dim[1].dim_value = len(values["classifier.bias"])
    onnx.checker.check_model(graph)
    onnx.save(graph, out)


def _quantize_signed(values: Floats) -> tuple[NDArray[np.int8], Floats, NDArray[np.int8]]:
    """Signed bytes around zero with one scale a column: with one for all a trained judge loses a tenth of AUC."""
    scale = np.maximum(np.abs(values).max(0) / 127, 1e-12).astype(np.float32)
    return np.clip(np.rint(values / scale), -127, 127).astype(np.int8), scale, np.asarray(0, np.int8)


def _quantize_unsigned(values: Floats) -> tuple[NDArray[np.uint8], Floats, NDArray[np.uint8]]:
    """Unsigned bytes with one scale and one zero."""
    least, most = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = np.float32((most - least) / 255)
    zero = np.rint(-least / scale)
    return np.clip(np.rint(values / scale) + zero, 0, 255).astype(np.uint8), np.asarray(scale), zero.astype(np.uint8)
