"""Models of natural language inference: whether a premise entails a hypothesis, contradicts it, or does neither."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from discorag.models.cross_encoder import Logits, OnnxCrossEncoder, Pair, TorchCrossEncoder, is_onnx_folder
from discorag.models.hub import local_model, model_version
from discorag.schema.errors import ConfigError

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
"""Columns of `Probabilities`."""
Probabilities = NDArray[np.float32]
"""Shape (pairs, 3): entailment, neutral, contradiction; rows add up to 1."""


class NliModel:
    """Judges pairs of premise and hypothesis: a classifier with labels that begin with "entail", "neutral",
    "contradict".

    Where no label is called neutral or contradiction, and for a classifier with one output, what is not entailed counts
    as neutral. A premise that is too long is cut. A folder with ``model.onnx`` is read without torch.

    Args:
        name: A folder, or the name of a model on the Hugging Face hub.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loaded: tuple[Callable[[Sequence[Pair]], Logits], Sequence[str]] | None = None

    @property
    def version(self) -> str:
        """Name and revision; of a folder a digest of its files. Raises `ConfigError` if it is not on this machine."""
        return model_version(self._name)

    async def probabilities(self, pairs: Sequence[Pair]) -> Probabilities:
        """Return the probabilities of each (premise, hypothesis), shape (len(pairs), 3).

        Raises:
            ConfigError: The model cannot be loaded, which the first call does, or has no label of entailment.
        """
        if not pairs:
            return np.zeros((0, 3), np.float32)
        return await asyncio.to_thread(self._probabilities, pairs)

    def _probabilities(self, pairs: Sequence[Pair]) -> Probabilities:
        with self._lock:
            logits_of, labels = self._loaded = self._loaded or self._load()
            logits = logits_of(pairs)
        found = np.zeros((len(pairs), 3), np.float32)
        if logits.shape[1] == 1:
            found[:, ENTAILMENT] = 1 / (1 + np.exp(-logits[:, 0].astype(np.float64)))
        else:
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            found[:, ENTAILMENT] = shares[:, self._entailment(labels)]
            contradicts = [i for i, label in enumerate(labels) if label.lower().startswith("contradict")]
            found[:, CONTRADICTION] = shares[:, contradicts].sum(axis=1)
        found[:, NEUTRAL] = np.clip(1 - found[:, ENTAILMENT] - found[:, CONTRADICTION], 0, 1)
        return found

    def _entailment(self, labels: Sequence[str]) -> int:
        """The column of the label that says entailment."""
        columns = [i for i, label in enumerate(labels) if label.lower().startswith("entail")]
        if len(columns) != 1:
            raise ConfigError(
                f"'{self._name}' has the labels {', '.join(labels)}; not exactly one of them says entailment.",
                hint="Name a model whose configuration calls one label 'entailment'.",
            )
        return columns[0]

    def _load(self) -> tuple[Callable[[Sequence[Pair]], Logits], Sequence[str]]:
        folder = local_model(self._name)
        if is_onnx_folder(folder):
            return _load_onnx(folder)
        classifier = TorchCrossEncoder(self._name)
        return classifier.logits, classifier.labels


@cache
def named_nli(name: str) -> NliModel:
    """Return the model of this name, the same one for every question."""
    return NliModel(name)


class _OnnxConfig(BaseModel):
    """What ``config.json`` says of an ONNX model."""

    id2label: dict[int, str]
    hypothesis_first: bool = False
    temperature: float = Field(default=1.0, gt=0)


def _load_onnx(folder: Path) -> tuple[Callable[[Sequence[Pair]], Logits], Sequence[str]]:
    try:
        config = _OnnxConfig.model_validate_json((folder / "config.json").read_bytes())
    except (OSError, ValidationError) as error:
        hint = "Name a folder whose config.json has `id2label`."
        raise ConfigError(f"The labels of the model in '{folder}' cannot be read: {error}", hint=hint) from error
    model = OnnxCrossEncoder(folder, 512, cut="second" if config.hypothesis_first else "first")

    def logits(pairs: Sequence[Pair]) -> Logits:
        ordered = [(h, p) for p, h in pairs] if config.hypothesis_first else pairs
        return model.logits(ordered) / np.float32(config.temperature)

    return logits, [label for _, label in sorted(config.id2label.items())]
