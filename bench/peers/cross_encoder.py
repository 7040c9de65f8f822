"""The packaged reranker as another system's user would run it: padded batches on one thread, without this product."""

# onnxruntime and tokenizers are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Encoding, Tokenizer

_COLUMNS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


class CrossEncoder:
    """Scores texts for a query, sixteen of about the same length at once.

    Args:
        folder: Holds ``model.onnx`` and ``tokenizer.json``.
        max_tokens: Window of a pair, special tokens included.
        batch: Pairs in one forward pass.
    """

    def __init__(self, folder: Path, max_tokens: int = 320, batch: int = 16) -> None:
        self._tokenizer, self._batch = Tokenizer.from_file(str(folder / "tokenizer.json")), batch
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens, strategy="only_second")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        file = str(folder / "model.onnx")
        self._session: Any = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])

    def order(self, query: str, texts: Sequence[str]) -> list[int]:
        """Indices of the texts, best first."""
        encoded = self._tokenizer.encode_batch([(query, text) for text in texts])
        by_length = sorted(range(len(texts)), key=lambda i: len(encoded[i].ids))
        logits = np.empty(len(texts), np.float32)
        for start in range(0, len(texts), self._batch):
            rows = by_length[start : start + self._batch]
            logits[rows] = self._forward([encoded[i] for i in rows])
        return np.argsort(-logits, kind="stable").tolist()

    def _forward(self, rows: Sequence[Encoding]) -> Any:
        width = max(len(row.ids) for row in rows)
        padded = {
            name: np.array([[*own, *[0] * (width - len(own))] for own in (getattr(row, column) for row in rows)])
            for name, column in _COLUMNS.items()
        }
        return self._session.run(None, padded)[0][:, 0]
