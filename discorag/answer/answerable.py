"""Whether the evidence answers the question: a calibrated probability, before anything is made of the evidence.

The model is a logistic regression over a few numbers that cost nothing: how near the question is to the passages that
were found (a passage's own vector, as it is stored), and how far they say the question's words. Both mean something
else of one paragraph than of twenty: each number counts again with the amount of evidence. The weights belong to one
encoder: with another there is no probability, and nothing is refused, until they are fitted (`discorag.answer.fit`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from discorag.answer.logistic import Logistic
from discorag.answer.words import SAME, Floats, asked, likeness, said_in
from discorag.models.protocol import Encoder
from discorag.types.case import Case
from discorag.types.errors import ConfigError
from discorag.types.vectors import Vectors

WEIGHTS = Path(__file__).parent / "weights"
_EACH = (
    *("passage", "passages", "said", "said_by_one", "said_nearby", "headings", "asked"),
    *("names_said", "name_said_least", "names", "near_and_says", "unusual_by_one", "near_and_means"),
)
NAMES = (*_EACH, "sentences", *(f"{name}_sentences" for name in _EACH))
"""The nearest passage's cosine, the mean of the nearest three; the mean likeness of the question's words to what all
passages say, what one of them says, what three sentences say, what headings and titles say; the logarithm of the number
of these words; of those written like names the mean, the least, and their share; with rare words weighing more, what a
passage says times its cosine, what one says, and what a passage means times its cosine; the logarithm of the number of
sentences; then all of it times the latter, as far as it lies above or below `USUAL`."""
_WINDOW = 3
USUAL = 3.0
PASSAGES = "passages"
"""Under this name a case knows the vectors of its chunks as they are stored."""


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


def judged(model: Refusal, case: Case, passages: Vectors, query: Vectors) -> tuple[float, str]:
    """The probability that the evidence answers the question, and what speaks against answering; arguments as below."""
    row = evidence_features(case, passages, query)
    probability, least = round(float(model.probabilities(row[None])[0]), 4), model.least(row)
    if probability >= least:
        return probability, ""
    return probability, (
        f"What was found does not seem to answer the question (probability {probability:.0%}; under {least:.0%} "
        "nothing is said)."
    )


def evidence_features(case: Case, passages: Vectors, query: Vectors) -> Floats:
    """The numbers of `NAMES`, shape (features,).

    Args:
        case: At least one chunk.
        passages: The chunks' vectors, shape (chunks, d).
        query: Shape (d,).
    """
    cosines = np.asarray(passages @ query, np.float64)
    near, amount = np.sort(cosines)[::-1], np.log1p(sum(len(chunk.sentences) for chunk in case.chunks))
    words = asked(case.query)
    each = [
        float(near[0]),
        float(near[:3].mean()),
        *(_said(case, words, cosines) if words else [0.0] * (len(_EACH) - 2)),
    ]
    return np.array([*each, amount, *(np.array(each) * (amount - USUAL))])


def _said(case: Case, words: Sequence[str], cosines: Floats) -> list[float]:
    """How far the words are said: all of them, the names, and by passages that are near, too."""
    said = said_in(case)
    headings = likeness(words, [" ".join((c.title, *c.headings)) for c in case.chunks])
    by_chunk, meant = _by_chunk(case, said.forms), np.stack([p.max(axis=0) for p in _by_chunk(case, said.meanings)])
    whole = np.stack([part.max(axis=0) for part in by_chunk])
    nearby = max(float(w.mean()) for part in by_chunk for w in _windows(part))
    most, unusual = whole.max(axis=0), whole @ said.unusual
    return [
        *(most.mean(), whole.mean(axis=1).max(), nearby, headings.mean(axis=1).max(), np.log1p(len(words))),
        *_names(most, said.names),
        *((unusual * cosines).max(), unusual.max(), (meant @ said.unusual * cosines).max()),
    ]


def _names(most: Floats, names: NDArray[np.bool_]) -> tuple[float, float, float]:
    """How far they are said: in the mean and at least, as much as a word counts as said where there are none."""
    if not names.any():
        return SAME, SAME, 0.0
    return float(most[names].mean()), float(most[names].min()), float(names.mean())


def _by_chunk(case: Case, rows: Floats) -> Sequence[Floats]:
    return np.split(rows, np.cumsum([len(chunk.sentences) for chunk in case.chunks])[:-1])


def _windows(said: Floats) -> Sequence[Floats]:
    return [said[i : i + _WINDOW].max(axis=0) for i in range(max(1, len(said) - _WINDOW + 1))]


def model_for(encoder: Encoder, file: Path | None = None) -> Refusal | None:
    """The model fitted for this encoder: the user's, else ours; None if there is none.

    Args:
        encoder: Whose vectors the passages have.
        file: As `discorag.answer.fit` writes it.

    Raises:
        ConfigError: The file does not exist, or holds no such models.
    """
    kind = kind_of(encoder)
    own = _read(file).get(kind) if file else None
    return own or _read(WEIGHTS / "answerable.json").get(kind)


def passages_of(case: Case) -> Vectors | None:
    """The vectors of the case's chunks as they are stored, shape (chunks, d), where they were read."""
    of, vectors = case.known.get(PASSAGES, (None, None))
    return vectors if of is case.chunks else None


def kind_of(encoder: Encoder) -> str:
    """What of an encoder's version says which vectors it makes: all but its window."""
    return encoder.version.partition("/")[0]


def _read(file: Path) -> Mapping[str, Refusal]:
    """By encoder; a file that has changed is read again."""
    try:
        return _models(file, file.stat().st_mtime_ns)
    except (OSError, ValueError) as error:
        hint = "Write it by `disco-rag fit`, or unset DISCO_RAG_ANSWERABLE."
        raise ConfigError(f"{file} holds no weights of the refusal: {error}", hint=hint) from error


@lru_cache(maxsize=4)
def _models(file: Path, _changed: int) -> Mapping[str, Refusal]:
    return {model.encoder: model for model in TypeAdapter(tuple[Refusal, ...]).validate_json(file.read_bytes())}
