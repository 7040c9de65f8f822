"""Sessions of ONNX Runtime, which runs the small models."""

# onnxruntime is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_FOLDER = "session.model_external_initializers_file_folder_path"
_SPINNING = "session.intra_op.allow_spinning"


def open_session(graph: Path, *, threads: int = 1, weights: Path | None = None) -> Any:
    """Load a graph for the CPU.

    Args:
        graph: An ONNX file.
        threads: Threads of one forward pass; 0 for one on each physical core.
        weights: Folder of the weights, where the graph does not hold them.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # since 1.32 it counts uses, and would send them
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry(_SPINNING, "0")  # threads that wait for work must not take a processor from others
    if weights:
        options.add_session_config_entry(_FOLDER, str(weights))
    return onnxruntime.InferenceSession(graph.read_bytes(), options, providers=["CPUExecutionProvider"])
