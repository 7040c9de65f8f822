"""What a reranker's logits mean: whether anything answers the question, and which sentences belong to the answer.

The numbers were fitted on questions with labelled evidence (``python -m training.answers``). They belong to the
reranker that they were fitted on and are not used with another.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ValidationError

from discorag.schema.errors import ConfigError
from discorag.text.terms import terms

PACKAGED = Path(__file__).parent / "weights" / "calibration.json"
_WHOLE = frozenset(
    terms(
        "article book chapter content contents describe discussed document file gist idea ideas main meeting overview "
        "page paper point points policy purpose report story subject summarise summarize summary tale text topic topics"
    )
)


class Logistic(BaseModel, frozen=True):
    """A logistic regression of one logit, in log odds, and the probability from which the decision is yes."""

    weight: float
    bias: float
    threshold: float

    def probability(self, logit: float) -> float:
        """The probability of yes, 0 to 1."""
        return float(1 / (1 + np.exp(-np.clip(self.weight * logit + self.bias, -500, 500))))


class Calibration(BaseModel, frozen=True, extra="forbid"):
    """The decisions that are based on the logits of one reranker.

    Args:
        fitted_on: The reranker's version: ``{"reranker": "ms-marco-MiniLM-L-12-v2@1225ccd6"}``.
        answers: Whether the evidence answers the question, by the logit of
            `discorag.generation.relevance.read_evidence`. Below its ``threshold`` the question is refused.
        sure: Probability of ``answers`` below which an answer is shown as unsure, and below which a question is refused
            that names what no text has.
        gap: If the best logit is 0, how far below it the logit of a further sentence may be.
        narrowing: How much this distance shrinks for each unit of the best logit: sure answers are short.
        relevant: The lowest logit of a sentence that is about the question at all.
    """

    fitted_on: dict[str, str]
    answers: Logistic
    sure: float
    gap: float
    narrowing: float
    relevant: float

    def lowest(self, best: float) -> float:
        """The lowest logit at which a sentence joins an answer whose best sentence has this logit."""
        return best - self.gap + self.narrowing * best


@dataclass(frozen=True)
class Assessment:
    """Whether the evidence answers the question.

    ``probability`` is calibrated, None where it is not known; ``refusal`` says why the question is refused.
    """

    probability: float | None = None
    refusal: str = ""
    unsure: bool = False


def assess_evidence(logit: float, calibration: Calibration, *, names_unknown: bool) -> Assessment:
    """Refuse, answer, or answer as unsure, by the logit of `discorag.generation.relevance.read_evidence`.

    The calibration belongs to the reranker that gave the logit. ``names_unknown``: the question has a name, number or
    code that no text of the scope has, so it is answered only if the answer would else be sure.
    """
    probability = round(calibration.answers.probability(logit), 4)
    is_sure = probability >= calibration.sure
    if is_sure or not (names_unknown or probability < calibration.answers.threshold):
        return Assessment(probability, unsure=names_unknown or not is_sure)
    return Assessment(probability, f"No passage seems to answer the question (probability {probability:.0%}).")


def asks_about_the_whole(question: str) -> bool:
    """Whether a question is about a document as a whole ("What is this paper about?"): no one sentence answers it."""
    return _WHOLE.issuperset(terms(question))


def find_calibration(reranker: str, file: Path | None = None) -> Calibration:
    """The calibration of a reranker's version: the user's, from a file of ``python -m training.answers``, else ours.

    Raises:
        ConfigError: There is none for it, or the file cannot be read.
    """
    known = [read_calibration(source) for source in (file, PACKAGED) if source]
    for calibration in known:
        if calibration.fitted_on == {"reranker": reranker}:
            return calibration
    fitted_on = known[-1].fitted_on["reranker"]
    raise ConfigError(
        f"These weights were fitted on the reranker {fitted_on}; the configured one is {reranker}.",
        hint=f"Set DISCO_RAG_RERANKER__MODEL to {fitted_on.partition('@')[0]}, or fit them again (docs/answers.md) and "
        "set DISCO_RAG_CALIBRATION.",
    )


def read_calibration(file: Path) -> Calibration:
    """The calibration in a file. Raises `ConfigError` if it does not exist or holds none."""
    try:
        return Calibration.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise ConfigError(
            f"{file} holds no calibration: {error}", hint="Unset DISCO_RAG_CALIBRATION, or name another file."
        ) from error
