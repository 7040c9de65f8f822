"""Cross-encoders: one model reads both texts of a pair and returns its logits. By ONNX Runtime, or by torch."""

# onnxruntime and torch are typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from discorag.extras import extra
from discorag.models.hub import local_model
from discorag.models.loops import raise_if_cancelled
from discorag.models.packaged import open_session
from discorag.schema.errors import ConfigError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

Logits = NDArray[np.float32]
"""Shape (pairs, labels)."""
Pair = tuple[str, str]
Cut = Literal["first", "second"]
_BATCH = 16  # pairs in one forward pass of torch


def is_onnx_folder(folder: Path) -> bool:
    """Return whether `OnnxCrossEncoder` can read a folder."""
    return (folder / "model.onnx").is_file() and (folder / "tokenizer.json").is_file()


class OnnxCrossEncoder:
    """A cross-encoder from ``model.onnx`` and ``tokenizer.json``: rerankers have one label, NLI models three.

    Pairs are scored one at a time. The packaged int8 model scales its activations by the largest one in a batch: in a
    batch its logits move by up to 0.17, and on one core a batch is not faster (0.71 s each way for 64 pairs of
    50 tokens). So a pair's logits depend on nothing but the pair. Threads may share an instance.

    Args:
        folder: Holds the two files, which are read at the first use.
        max_tokens: Window of a pair, special tokens included.
        cut: Which text is cut to fit into the window: the second (a passage behind a query) or the first (a premise
            before a hypothesis). The other text is cut only where it alone fills more than half of the window.
    """

    def __init__(self, folder: Path, max_tokens: int = 320, *, cut: Cut = "second") -> None:
        self._folder, self._max_tokens = folder, max_tokens
        self._cut: Cut = cut
        self._lock = Lock()  # fast tokenizers must not be shared by threads
        self._tokenizer: Tokenizer | None = None
        self._session: Any = None

    def logits(self, pairs: Sequence[Pair]) -> Logits:
        """Return the logits of one or more pairs, shape (len(pairs), labels); blocks.

        Raises:
            ConfigError: The files cannot be read.
            CancelledError: The run that this thread works for has ended.
        """
        with self._lock:
            encodings = self._encode(pairs)
        return np.concatenate([self._forward(encoding) for encoding in encodings])

    def _encode(self, pairs: Sequence[Pair]) -> list[Encoding]:
        tokenizer = self._load()
        room = self._max_tokens - tokenizer.num_special_tokens_to_add(is_pair=True)
        return [_fit(tokenizer, pair, room, self._cut) for pair in pairs]

    def _forward(self, encoding: Encoding) -> Logits:
        raise_if_cancelled()
        features = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        wanted = [given.name for given in self._session.get_inputs()]
        found: Logits = self._session.run(None, {name: np.array([features[name]], np.int64) for name in wanted})[0]
        return found.astype(np.float32)

    def _load(self) -> Tokenizer:
        if self._tokenizer is None:
            try:
                tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
                self._session = open_session(self._folder / "model.onnx")
            except Exception as error:  # both libraries raise nothing narrower
                reason = next(iter(str(error).splitlines()), type(error).__name__)
                hint = "Name a folder that holds model.onnx and tokenizer.json."
                raise ConfigError(f"The model in '{self._folder}' cannot be loaded: {reason}", hint=hint) from error
            tokenizer.no_padding()
            tokenizer.no_truncation()
            self._tokenizer = tokenizer
        return self._tokenizer


def _fit(tokenizer: Tokenizer, pair: Pair, room: int, cut: Cut) -> Encoding:
    """Encode a pair in ``room`` tokens, special tokens not counted."""
    first, second = (tokenizer.encode(text, add_special_tokens=False) for text in pair)
    kept, rest = (first, second) if cut == "second" else (second, first)
    kept.truncate(min(len(kept), room // 2))
    rest.truncate(min(len(rest), room - len(kept)))
    return tokenizer.post_process(first, second)


class TorchCrossEncoder:
    """A cross-encoder of sentence-transformers: the same logits from a folder or hub name, by torch.

    Args:
        name: A folder, or the name of a model on the Hugging Face hub; loaded at the first use.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._model: CrossEncoder | None = None

    @property
    def labels(self) -> list[str]:
        """The labels as the model's configuration names them. `ConfigError` if the model cannot be loaded."""
        configuration: Any = self._load().config
        return list(configuration.id2label.values())

    def logits(self, pairs: Sequence[Pair]) -> Logits:
        """See `OnnxCrossEncoder.logits`; the library's sigmoid is left out."""
        with extra("torch"):
            from torch.nn import Identity

        with self._lock:
            found: Any = self._load().predict(
                list(pairs),
                batch_size=_BATCH,
                show_progress_bar=False,
                activation_fn=Identity(),
                convert_to_numpy=True,
            )
        return np.asarray(found, np.float32).reshape(len(pairs), -1)

    def _load(self) -> CrossEncoder:
        if self._model is None:
            with extra("torch"):
                from sentence_transformers import CrossEncoder

            folder = local_model(self._name)
            try:
                self._model = CrossEncoder(str(folder), local_files_only=True)
            except (OSError, ValueError) as error:
                hint = "Name a folder that holds a cross-encoder, or one of the Hugging Face hub."
                raise ConfigError(f"The model '{self._name}' cannot be loaded: {error}", hint=hint) from error
            self._model.register_forward_pre_hook(raise_if_cancelled)  # before each batch
        return self._model
