"""What a reranker's logits mean: whether anything answers the question, and which sentences belong to the answer.

The numbers were fitted on questions with labelled evidence (``python -m training.answers``). They belong to the
reranker that they were fitted on and are not used with another.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ValidationError

from discorag.schema.answer import AnswerInputs
from discorag.schema.document import Chunk
from discorag.schema.errors import ConfigError
from discorag.text.folding import fold
from discorag.text.terms import CJK_LETTERS, HANGUL, terms

PACKAGED = Path(__file__).parent / "weights" / "calibration.json"
_LETTER = rf"[^\W_{CJK_LETTERS}{HANGUL}]"  # scripts whose words have no capitals, and whose particles follow a code
_WORD = re.compile(rf"{_LETTER}+(?:[.\-'’/]{_LETTER}+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_WHOLE = frozenset(
    terms(
        "article book chapter content contents describe discussed document file gist idea ideas main meeting overview "
        "page paper point points policy purpose report story subject summarise summarize summary tale text topic topics"
    )
)


class Logistic(BaseModel, frozen=True):
    """A logistic regression: weights and bias in log odds, and the probability from which the decision is yes."""

    weights: tuple[float, ...]
    bias: float
    threshold: float

    def probability(self, inputs: Sequence[float]) -> float:
        """The probability of yes, 0 to 1."""
        odds = float(np.dot(self.weights, inputs)) + self.bias
        return float(1 / (1 + np.exp(-np.clip(odds, -500, 500))))


class Calibration(BaseModel, frozen=True, extra="forbid"):
    """The decisions that are based on the logits of one reranker.

    Args:
        fitted_on: The reranker's version: ``{"reranker": "ms-marco-MiniLM-L-12-v2@1225ccd6"}``.
        answers: Whether the evidence answers the question; its inputs are the logit of
            `discorag.generation.relevance.read_evidence` and the `absent_share`. Below its ``threshold`` the question
            is refused.
        sure: Probability of ``answers`` below which an answer is shown as unsure.
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


def assess_evidence(inputs: AnswerInputs, logit: float, calibration: Calibration) -> Assessment:
    """Refuse, answer, or answer as unsure, by the logit of `discorag.generation.relevance.read_evidence`.

    There is at least one chunk, and the calibration belongs to the reranker that gave the logit.
    """
    probability = calibration.answers.probability([logit, absent_share(inputs)])
    if probability >= calibration.answers.threshold:
        return Assessment(round(probability, 4), unsure=probability < calibration.sure)
    return Assessment(
        round(probability, 4), f"No passage seems to answer the question (probability {probability:.0%})."
    )


def asks_about_the_whole(question: str) -> bool:
    """Whether a question is about a document as a whole ("What is this paper about?"): no one sentence answers it."""
    return _WHOLE.issuperset(terms(question))


def exact_terms(question: str) -> list[str]:
    """Names, numbers and codes of a question: words with a digit, or with a capital that does not begin a sentence.

    They are folded (`discorag.text.folding.fold`), and end where another script begins: "ABC-123の" holds ABC-123.

    >>> exact_terms("Does Marta's HTTP client return 429? Why?")
    ['Marta', 'HTTP', '429']
    """
    text = fold(question).strip()
    begins = {0, *(m.end() for m in re.finditer(r"[.?!]\s+", text))}
    words = [(m.start() in begins, _POSSESSIVE.sub("", m[0])) for m in _WORD.finditer(text)]
    named = (w for is_first, w in words if any(map(str.isdigit, w)) or any(map(str.isupper, w[is_first:])))
    return list(dict.fromkeys(named))


def absent_terms(inputs: AnswerInputs) -> list[str]:
    """The `exact_terms` of the question that occur in no passage, title, heading or table header."""
    return terms_not_in(inputs.chunks, exact_terms(inputs.query))


def terms_not_in(chunks: Iterable[Chunk], wanted: Iterable[str]) -> list[str]:
    """Which of some folded terms no chunk, title, heading or table header has, whatever their case."""
    sources = fold("\n".join("\n".join((c.title, *c.headings, c.columns, c.text)) for c in chunks)).casefold()
    return [term for term in wanted if term.casefold() not in sources]


def absent_share(inputs: AnswerInputs) -> float:
    """The share of `absent_terms` among the question's `exact_terms`, 0 if it has none."""
    exact = exact_terms(inputs.query)
    return len(absent_terms(inputs)) / len(exact) if exact else 0.0


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
