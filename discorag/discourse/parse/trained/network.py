"""The parser's network by ONNX Runtime: word pieces, where EDUs start, and scores of the ways to cut spans of units.

A folder holds one graph for each step, with the weights that were trained, and ``parser.json``. The encoder's own
weights are not copied: the first graph says where in the encoder's file each of them is. ``training/parser/export.py``
writes such folders.
"""

# onnxruntime is typed in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from discorag.discourse.parse.trained.pieces import Ints, Layout, Pieces, Tokenization
from discorag.models.hub import local_model
from discorag.models.loops import raise_if_cancelled
from discorag.models.packaged import PACKAGED, file_sha256, open_session, packaged_folder
from discorag.schema.errors import ConfigError
from discorag.schema.values import Span

PACKAGED_FOLDER = Path(__file__).parent / "weights"
"""The parser over the packaged MiniLM."""
DESCRIPTION = "parser.json"
GRAPHS = ("tokens", "starts", "units", "splits", "labels")
"""Each in a file of its own, in the order in which they are used."""
KINDS = ("edu", "sentence", "paragraph")
ENCODER_FILE = "model.safetensors"
_CERTAIN = 1e-4

Floats = NDArray[np.float32]


class Description(BaseModel, frozen=True, extra="forbid"):
    """What a folder of the parser says about itself.

    Args:
        name: Part of the parser's version: the encoder, and for all but the packaged parser a digest of the weights.
        encoder: The packaged encoder's name, or another encoder's folder or name on the Hugging Face hub.
        encoder_sha256: Digest of the encoder's ``model.safetensors``.
        window: Word pieces that are encoded at once, special tokens included.
        confidence: Slope and shift that turn the log odds of a split and its label into those that the node is right
            (Platt 1999).
    """

    name: str
    encoder: str
    encoder_sha256: str
    window: int
    confidence: tuple[float, float] | None = None


A = TypeVar("A")
"""numpy's arrays here, torch's in training."""


@dataclass(frozen=True)
class Units(Generic[A]):
    """Units of one text that are parsed together: the first token of each, and the one after its last, shape (n,).

    ``levels`` says what starts at each unit (`Level`), ``kind`` is an index into `KINDS`.
    """

    first: A
    last: A
    levels: A
    kind: int


@dataclass(frozen=True)
class Reading(Generic[A]):
    """What the LSTM makes of n units that are parsed together.

    Args:
        borders: The vectors between the units and around them, shape (n + 1, 2 x lstm).
        sums: The outputs for the units before each border, added up, shape (n + 1, 2 x lstm).
        units: The units before they are read, shape (n, unit).
    """

    borders: A
    sums: A
    units: A


@dataclass(frozen=True)
class Cuts(Generic[A]):
    """Ways to cut spans of units.

    Args:
        places: Rows ``i, k, j``: units ``[i, k)`` and ``[k, j)``, shape (3, cuts).
        here: What starts at ``k`` (`Level`), shape (cuts,).
        most: The highest level inside ``(i, j)``, shape (cuts,).
    """

    places: A
    here: A
    most: A


class Network:
    """The parser's network; threads may share it.

    Args:
        folder: As `training/parser/export.py` writes it.

    Raises:
        ConfigError: The folder, or the encoder that it names, is missing or damaged.
    """

    def __init__(self, folder: Path = PACKAGED_FOLDER) -> None:
        self.description = describe(folder)
        encoder = _encoder_folder(self.description)
        self._tokenization = Tokenization(encoder / "tokenizer.json", self.description.window)
        self._graphs: dict[str, Any] = {name: open_session(folder / f"{name}.onnx") for name in GRAPHS[1:]}
        self._graphs["tokens"] = open_session(folder / "tokens.onnx", threads=0, weights=encoder)

    def pieces(self, layout: Layout) -> Pieces:
        """The text's word pieces."""
        return self._tokenization.pieces(layout)

    def tokens(self, pieces: Pieces) -> Floats:
        """Vectors of a text's word pieces, shape (pieces, token), encoded window by window."""
        return np.concatenate([self._window(pieces.ids[a:b]) for a, b in pieces.windows])

    def _window(self, ids: Ints) -> Floats:
        raise_if_cancelled()
        [found] = self._run("tokens", ids=self._tokenization.framed(ids)[np.newaxis])
        return found

    def starts(self, tokens: Floats, levels: Ints) -> Floats:
        """The probability that an EDU starts, at each token, shape (tokens,)."""
        [found] = self._run("starts", tokens=tokens, levels=levels)
        return found

    def read(self, tokens: Floats, units: Units[Ints]) -> Reading[Floats]:
        """What is read of the units of a text."""
        lengths = units.last - units.first
        owner = np.repeat(np.arange(len(lengths)), lengths)
        offset = np.arange(len(owner)) - np.repeat(lengths.cumsum() - lengths, lengths)
        return Reading(
            *self._run(
                "units",
                tokens=tokens,
                first=units.first,
                last=units.last,
                levels=units.levels,
                kind=np.array(units.kind),
                members=units.first[owner] + offset,
                owner=owner,
            )
        )

    def split_scores(self, reading: Reading[Floats], cuts: Cuts[Ints]) -> Floats:
        """Logits of cutting at ``k`` among the cuts of the same span, shape (cuts,)."""
        first, last = cuts.places[0].min(), cuts.places[2].max()
        near = reading.borders[first : last + 1]  # borders outside of the spans cost nothing
        [found] = self._run("splits", borders=near, places=cuts.places - first, here=cuts.here, most=cuts.most)
        return found

    def label_logits(self, reading: Reading[Floats], cuts: Cuts[Ints]) -> Floats:
        """Logits over `discorag.discourse.parse.gum_labels.JOINT_LABELS`, shape (cuts, labels)."""
        [found] = self._run(
            "labels",
            borders=reading.borders,
            sums=reading.sums,
            units=reading.units,
            places=cuts.places,
            here=cuts.here,
            most=cuts.most,
        )
        return found

    def confidence(self, p: float) -> float:
        """How often a node is right if the network gives ``p`` to its cut and label (Platt 1999)."""
        if self.description.confidence is None:
            return min(1.0, p)
        slope, shift = self.description.confidence
        return 1 / (1 + math.exp(-slope * log_odds(p) - shift))

    def _run(self, graph: str, **given: NDArray[Any]) -> list[Floats]:
        return self._graphs[graph].run(None, given)


def describe(folder: Path) -> Description:
    """Read what a folder of the parser says about itself.

    Raises:
        ConfigError: The folder holds no parser.
    """
    try:
        return Description.model_validate_json((folder / DESCRIPTION).read_bytes())
    except (OSError, ValidationError) as error:
        hint = "Name a folder that `make train-parser` wrote in DISCO_RAG_PARSER__FOLDER, or unset it."
        raise ConfigError(f"There is no trained parser in '{folder}'.", hint=hint) from error


def _encoder_folder(description: Description) -> Path:
    name = description.encoder
    if name in PACKAGED:
        return packaged_folder(name)
    folder = local_model(name)
    if file_sha256(folder / ENCODER_FILE) != description.encoder_sha256:
        hint = "Train the parser over this encoder again: `make train-parser ENCODER=...`."
        raise ConfigError(f"'{folder / ENCODER_FILE}' is not the file that the parser was trained over.", hint=hint)
    return folder


def unit_ranges(pieces: Pieces, spans: Sequence[Span]) -> Ints:
    """The first token of each span and the one after its last, shape (2, spans)."""
    return np.array([pieces.range_of(s) for s in spans], dtype=np.int64).reshape(-1, 2).T.copy()


def sentences_of(pieces: Pieces, spans: Sequence[Span], kind: str) -> Units[Ints]:
    """Spans of a text as units of its word pieces."""
    first, last = unit_ranges(pieces, spans)
    return Units(first, last, pieces.levels[first], KINDS.index(kind))


def log_odds(p: float) -> float:
    """The logarithm of the odds of ``p``, which is first kept away from 0 and 1."""
    clipped = min(max(p, _CERTAIN), 1 - _CERTAIN)
    return math.log(clipped / (1 - clipped))
