"""Which settings serve a user's own questions best, and what gain over the present ones can be expected from them.

Every candidate retrieves for every question, and answers those that have expected answers. The choice is
cross-validated: it is made on a part of the questions, and what it gains is counted on the rest, so that the expected
gain holds for questions of the same kind that it has not seen. The best of many candidates always looks better on the
questions by which it was chosen.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from statistics import fmean
from typing import Any, Self

import numpy as np
import tomlkit
from numpy.typing import NDArray
from pydantic import model_validator
from tomlkit.exceptions import TOMLKitError

from discorag.schema.errors import ConfigError, InputError
from discorag.schema.values import count_words
from discorag.text.terms import terms
from interfaces.facade import DiscoRAG
from interfaces.langchain import DiscoRetriever
from interfaces.questions import Question

Options = Mapping[str, Any]
FEWEST = 10
"""The fewest questions; with fewer, chance decides."""
FOLDS, REPEATS, RESAMPLES = 5, 40, 4000


class Example(Question):
    """A question with what is expected: passages that should be read, in the documents' words, and accepted answers."""

    passages: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if not any(terms(text) for text in (*self.passages, *self.answers)):
            raise ValueError("passages or answers are needed")
        return self


@dataclass(frozen=True)
class Candidate:
    """Options with their mean score, 0 to 1, and the mean number of words that were read."""

    options: Options
    score: float
    words: float


@dataclass(frozen=True)
class Tuning:
    """What was found.

    Args:
        candidates: All of them; the first are the present settings.
        chosen: Index of the choice: of those within one standard error of the best score, the one that reads least.
        gain: Expected gain of the choice over the present settings, on new questions of the same kind, in score.
        low, high: Its 95 % bootstrap interval.
    """

    candidates: tuple[Candidate, ...]
    chosen: int
    gain: float
    low: float
    high: float

    @property
    def is_better(self) -> bool:
        """Whether another setting than the present one was chosen, and its gain is more than chance."""
        return self.chosen != 0 and self.low > 0


def candidates(examples: Sequence[Example], *, has_model: bool) -> list[Options]:
    """The options to try: the present ones, then each retriever with each budget (twice if there is a language model).

    Raises:
        InputError: There are fewer than `FEWEST` questions.
    """
    if len(examples) < FEWEST:
        raise InputError(f"{len(examples)} questions are too few.", hint=f"Write {FEWEST} or more; 50 are good.")
    over_trees = product(({"retriever": r} for r in ("snapped", "chunks", "sentences")), (200, 400, 800))
    over_chunks = product(({"retriever": r} for r in ("dense", "hybrid")), (5, 10), (False, True))
    found: list[Options] = [retriever | {"evidence_words": words} for retriever, words in over_trees]
    found += [retriever | {"top_k": k, "rerank": rerank} for retriever, k, rerank in over_chunks]
    if has_model and any(example.answers for example in examples):
        found = [{"preset": preset, **options} for preset in ("verbatim", "written") for options in found]
    return [{}, *found]


async def find_settings(
    rag: DiscoRAG,
    examples: Sequence[Example],
    options: Sequence[Options],
    *,
    on_answer: Callable[[], None] = lambda: None,
    **where: Any,
) -> Tuning:
    """Retrieve for every question with every candidate, answer those with expected answers, and choose.

    Args:
        rag: The pipeline, with the documents ingested.
        examples: The questions.
        options: The candidates; the first are the present settings.
        on_answer: Called after each question of a candidate.
        **where: ``corpus`` and ``tenant``.

    Raises:
        InputError: There is nothing to retrieve from.
    """
    scores, words = np.zeros((2, len(examples), len(options)))
    for (row, example), (column, chosen) in product(enumerate(examples), enumerate(options)):
        retriever = DiscoRetriever(rag=rag, filters=example.filters, switches=dict(chosen), **where)
        read = [document.page_content for document in await retriever.ainvoke(example.question)]
        answer = ""
        if example.answers:
            answer = (await rag.aask(example.question, filters=example.filters, **where, **chosen)).answer.text
        scores[row, column], words[row, column] = score(example, answer, read), count_words(" ".join(read))
        on_answer()
    return choose(scores, words, options)


def choose(scores: NDArray[np.float64], words: NDArray[np.float64], options: Sequence[Options]) -> Tuning:
    """The choice, by scores and words read, both of shape (questions, candidates). The first candidate is the present
    one.
    """
    means, read = scores.mean(axis=0), words.mean(axis=0)
    gains = _expected_gains(scores, read)
    resampled = np.random.default_rng(0).choice(gains, (RESAMPLES, len(gains))).mean(axis=1)
    low, high = np.quantile(resampled, (0.025, 0.975))
    table = tuple(Candidate(o, float(m), float(w)) for o, m, w in zip(options, means, read, strict=True))
    return Tuning(table, _best(scores, read), float(gains.mean()), float(low), float(high))


def _best(scores: NDArray[np.float64], words: NDArray[np.float64]) -> int:
    """Choose, within one standard error of the best, the candidate that reads least; the present one if it ties."""
    behind = scores[:, [scores.mean(axis=0).argmax()]] - scores
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(scores))
    near = np.flatnonzero(behind.mean(axis=0) <= error)
    return int(near[words[near].argmin()])


def _expected_gains(scores: NDArray[np.float64], words: NDArray[np.float64]) -> NDArray[np.float64]:
    """The gain over the present settings on each question, of the choice made without it: shape (questions,)."""
    random, gains = np.random.default_rng(0), np.zeros(len(scores))
    for _ in range(REPEATS):
        for held_out in np.array_split(random.permutation(len(scores)), FOLDS):
            chosen = _best(np.delete(scores, held_out, axis=0), words)
            gains[held_out] += (scores[held_out, chosen] - scores[held_out, 0]) / REPEATS
    return gains


def score(example: Example, answer: str, read: Sequence[str]) -> float:
    """The mean of two values from 0 to 1: how much of the expected passages was read, and the F1 of the best expected
    answer.
    """
    known = Counter(pair for text in read for pair in _pairs(text))
    wanted = [_pairs(passage) for passage in example.passages]
    parts = [sum(pair in known for pair in pairs) / len(pairs) for pairs in wanted if pairs]
    passages = [fmean(parts)] if parts else []
    return fmean([*passages, *([max(_f1(answer, a) for a in example.answers)] if example.answers else [])])


def _pairs(text: str) -> list[tuple[str, ...]]:
    """Pairs of neighbouring search terms; a single term stays alone."""
    found = terms(text)
    return list(pairwise(found)) if len(found) > 1 else [tuple(found)] if found else []


def _f1(answer: str, expected: str) -> float:
    given, wanted = Counter(terms(answer, stopwords=False)), Counter(terms(expected, stopwords=False))
    same = (given & wanted).total()
    return 2 * same / (given.total() + wanted.total()) if same else 0.0


def write_settings(file: Path, options: Options) -> None:
    """Write the options into the section ``[answer]`` of a settings file; all else in it stays, comments too.

    Raises:
        ConfigError: The file cannot be read or written, or its ``answer`` is not a table.
    """
    try:
        document = tomlkit.parse(file.read_text("utf-8") if file.is_file() else "")
        section = document.setdefault("answer", tomlkit.table())
        for name in set(section) - set(options):
            del section[name]
        section.update(options)
        file.write_text(tomlkit.dumps(document), "utf-8")
    except (OSError, ValueError, TypeError, TOMLKitError) as error:
        raise ConfigError(f"{file} cannot be changed: {error}.", hint="Write the section [answer] yourself.") from error
