"""Whether the evidence answers the question: a calibrated probability, before anything is made of the evidence.

The model is a logistic regression over a few numbers that cost nothing: how near the question is to the passages that
were found (a passage's own vector, as it is stored), and how far they say the question's words. Both mean something
else of one paragraph than of twenty: each number counts again with the amount of evidence. The weights belong to one
encoder: with another there is no probability, and nothing is refused, until they are fitted (`discorag.answer.fit`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from discorag.answer.words import Floats, asked, likeness
from discorag.models.protocol import Encoder
from discorag.types.case import Case
from discorag.types.chunk import Chunk
from discorag.types.vectors import Vectors

WEIGHTS = Path(__file__).parent / "weights"
_EACH = ("passage", "passages", "said", "said_by_one", "said_nearby", "headings", "asked")
NAMES = (*_EACH, "sentences", *(f"{name}_sentences" for name in _EACH))
"""The nearest passage's cosine, the mean of the nearest three; the mean likeness of the question's words to what all
passages say, what one of them says, what three sentences say, what headings and titles say; the number of these words,
and of sentences, as logarithms; then all of it times the latter, as far as it lies above or below `USUAL`."""
_WINDOW = 3
USUAL = 3.0
PASSAGES = "passages"
"""Under this name a case knows the vectors of its chunks as they are stored."""


class Logistic(BaseModel):
    """A logistic regression over standardised features, as it is kept in a file of JSON.

    Args:
        encoder: Whose vectors it was fitted on: its version up to the first ``/``; empty where that does not matter.
        names: Of the features, in the order of the columns.
        mean, scale, weights: Of each feature.
        bias: In log odds.
        threshold: Probability from which something is taken for true.

    Example:
        >>> from discorag.answer.answerable import Logistic
        >>> model = Logistic(names=("x",), mean=(0.0,), scale=(1.0,), weights=(2.0,), bias=0.0, threshold=0.5)
        >>> model.probabilities(np.array([[0.0], [3.0]])).round(2).tolist()
        [0.5, 1.0]
    """

    model_config = ConfigDict(frozen=True)

    encoder: str = ""
    names: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    threshold: float

    def probabilities(self, rows: Floats) -> Floats:
        """Shape (rows,)."""
        odds = ((rows - np.array(self.mean)) / np.array(self.scale)) @ np.array(self.weights) + self.bias
        return 1 / (1 + np.exp(-odds))


class Refusal(Logistic):
    """The same over `NAMES`; how much probability is asked for depends on the amount of evidence.

    Args:
        slope: What the threshold's log odds gain with each unit of the logarithm of the number of sentences.

    Example:
        >>> from discorag.answer.answerable import NAMES, Refusal
        >>> blank = dict.fromkeys(("mean", "scale", "weights"), (1.0,) * len(NAMES))
        >>> model = Refusal(names=NAMES, **blank, bias=0.0, threshold=0.4, slope=1.0)
        >>> row = np.zeros(len(NAMES))
        >>> round(model.least(row), 3), round(model.least(row + 3.0), 3)
        (0.032, 0.4)
    """

    slope: float = 0.0

    def least(self, row: Floats) -> float:
        """The probability under which the question of these features is not answered."""
        odds = np.log(self.threshold / (1 - self.threshold))
        odds += self.slope * (row[NAMES.index("sentences")] - USUAL)
        return float(1 / (1 + np.exp(-odds)))


def evidence_features(case: Case, passages: Vectors, query: Vectors) -> Floats:
    """The numbers of `NAMES`, shape (features,).

    Args:
        case: At least one chunk.
        passages: The chunks' vectors, shape (chunks, d).
        query: Shape (d,).
    """
    near = np.sort(np.asarray(passages @ query, np.float64))[::-1]
    words = asked(case.query)
    sentences = [_sentences(chunk) for chunk in case.chunks]
    headings = [" ".join((c.title, *c.headings)) for c in case.chunks]
    each = np.array([near[0], near[:3].mean(), *_said(sentences, headings, words), np.log1p(len(words))])
    amount = np.log1p(sum(map(len, sentences)))
    return np.array([*each, amount, *(each * (amount - USUAL))])


def _said(sentences: Sequence[Sequence[str]], headings: Sequence[str], words: Sequence[str]) -> list[float]:
    """How far the words are said: by all, by one passage, by neighbouring sentences, by headings."""
    if not words:
        return [0.0, 0.0, 0.0, 0.0]
    said = likeness(words, [s for own in sentences for s in own])
    by_chunk = np.split(said, np.cumsum([len(own) for own in sentences])[:-1])
    whole = np.stack([part.max(axis=0) for part in by_chunk])
    nearby = max(float(w.mean()) for part in by_chunk for w in _windows(part))
    above = likeness(words, headings).mean(axis=1).max()
    return [float(whole.max(axis=0).mean()), float(whole.mean(axis=1).max()), nearby, float(above)]


def _sentences(chunk: Chunk) -> list[str]:
    return [chunk.slice(span) for span in chunk.sentences]


def _windows(said: Floats) -> Sequence[Floats]:
    return [said[i : i + _WINDOW].max(axis=0) for i in range(max(1, len(said) - _WINDOW + 1))]


def model_for(encoder: Encoder, file: Path | None = None) -> Refusal | None:
    """The model fitted for this encoder: the user's, else ours; None if there is none.

    Args:
        encoder: Whose vectors the passages have.
        file: As `discorag.answer.fit` writes it.
    """
    return _models(file).get(kind_of(encoder)) or _models(WEIGHTS / "answerable.json").get(kind_of(encoder))


def passages_of(case: Case) -> Vectors | None:
    """The vectors of the case's chunks as they are stored, shape (chunks, d), where they were read."""
    of, vectors = case.known.get(PASSAGES, (None, None))
    return vectors if of is case.chunks else None


def kind_of(encoder: Encoder) -> str:
    """What of an encoder's version says which vectors it makes: all but its window."""
    return encoder.version.partition("/")[0]


@cache
def _models(file: Path | None) -> Mapping[str, Refusal]:
    """By encoder."""
    if file is None or not file.is_file():
        return {}
    return {model.encoder: model for model in map(Refusal.model_validate, json.loads(file.read_text("utf-8")))}
