"""ASQA's metrics that need a reader: Disambig-F1, -EM and -Hit (Stelmakh et al. 2022)."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Any

from eval.errors import MetricUnavailableError
from eval.metrics.base import Given
from eval.metrics.model_based import check_folder, config_of, load_model
from eval.metrics.normal import best_token_f1
from eval.metrics.strings import Rate, is_exact

MAX_TOKENS = 384
"""Tokens of question and context together in one window (official ``eval.sh``)."""
OVERLAP = 128
"""Tokens that neighbouring windows share (``doc_stride`` of the official reader)."""
N_BEST = 20
"""Start and end positions considered in each window."""
MAX_ANSWER_TOKENS = 30

_HINT = "Name a local folder with a model saved by transformers as a ...ForQuestionAnswering class, and its tokenizer."

Offsets = Sequence[tuple[int, int] | None]


@dataclass(frozen=True)
class Window:
    """What the reader says about one window of the context.

    Args:
        start, end: Logits that the answer starts or ends at a token, shape [tokens]; the first token stands for
            "no answer".
        offsets: For each token its characters in the context; None for tokens that are not in it.
    """

    start: Sequence[float]
    end: Sequence[float]
    offsets: Offsets


class Reader:
    """An extractive reader trained on SQuAD 2.0, from a local folder; loaded at the first question.

    Read answers are kept, since three metrics ask for the same. Safe to use from several threads.

    Args:
        folder: A model saved by ``transformers``, with its tokenizer.

    Raises:
        MetricUnavailableError: The folder holds no question-answering model.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = check_folder(folder, "--reader")
        kinds: list[str] = config_of(self._folder).get("architectures", [])
        if not any(kind.endswith("ForQuestionAnswering") for kind in kinds):
            raise MetricUnavailableError(f"{folder}: its architectures are {kinds}.", hint=_HINT)
        self._lock = Lock()
        self._known: dict[tuple[str, str], str] = {}

    def read(self, question: str, context: str) -> str:
        """The answer's characters in ``context``; empty if the reader finds none."""
        with self._lock:
            if (question, context) not in self._known:
                span = best_span(self._windows(question, context)) if context.strip() else None
                self._known[question, context] = context[slice(*span)] if span else ""
            return self._known[question, context]

    def _windows(self, question: str, context: str) -> list[Window]:
        import torch

        tokenizer, model = self._loaded
        encoded = tokenizer(
            question.lstrip(),
            context,
            truncation="only_second",
            max_length=min(MAX_TOKENS, tokenizer.model_max_length),
            stride=OVERLAP,
            padding=True,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = encoded.pop("offset_mapping").tolist()
        del encoded["overflow_to_sample_mapping"]
        with torch.inference_mode():
            output = model(**encoded.to(model.device))
        logits = zip(output.start_logits.tolist(), output.end_logits.tolist(), strict=True)
        return [
            Window(start, end, _context_offsets(encoded.sequence_ids(i), offsets[i]))
            for i, (start, end) in enumerate(logits)
        ]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        try:
            return load_model("AutoModelForQuestionAnswering", self._folder)
        except (OSError, ValueError) as error:
            raise MetricUnavailableError(f"{self._folder} cannot be loaded: {error}.", hint=_HINT) from error


def best_span(windows: Sequence[Window]) -> tuple[int, int] | None:
    """Characters ``[start, end)`` of the best answer over all windows; None where "no answer" scores higher.

    As in the SQuAD 2.0 post-processing of ``transformers`` that ASQA uses, with a null threshold of 0: the score of a
    span is the sum of its logits; that of "no answer" is the lowest among the windows.
    """
    candidates = [candidate for window in windows for candidate in _candidates(window)]
    if not candidates:
        return None
    score, span = max(candidates)
    null = min(window.start[0] + window.end[0] for window in windows)
    return None if null > score else span


@dataclass(frozen=True)
class Disambig:
    """A rate of the answers that the reader reads in the long answer, over the disambiguated questions.

    Each read answer is compared with the short answers of its own question.
    """

    reader: Reader
    name: str
    rate: Rate
    over_points: Callable[[Sequence[float]], float] = fmean

    async def score(self, given: Given) -> float | None:
        """0 to 100; None without disambiguated questions."""
        sample = given.sample
        if not sample.disambiguated:
            return None
        read = [await asyncio.to_thread(self.reader.read, question, given.answer) for question in sample.disambiguated]
        return 100 * self.over_points([float(r) for r in map(self.rate, read, sample.short_answers)])


DISAMBIG: Mapping[str, Callable[[Reader], Disambig]] = {
    "disambig_f1": lambda reader: Disambig(reader, "disambig_f1", best_token_f1),
    "disambig_em": lambda reader: Disambig(reader, "disambig_em", is_exact),
    "disambig_hit": lambda reader: Disambig(reader, "disambig_hit", is_exact, min),
}


def _candidates(window: Window) -> list[tuple[float, tuple[int, int]]]:
    """Score and characters of the spans between the window's best starts and ends."""
    found: list[tuple[float, tuple[int, int]]] = []
    ends = _best(window.end)
    for start in _best(window.start):
        for end in ends:
            first, last = window.offsets[start], window.offsets[end]
            if first and last and start <= end < start + MAX_ANSWER_TOKENS and first[0] < last[1]:
                found.append((window.start[start] + window.end[end], (first[0], last[1])))
    return found


def _best(logits: Sequence[float]) -> list[int]:
    return sorted(range(len(logits)), key=logits.__getitem__, reverse=True)[:N_BEST]


def _context_offsets(sequences: Sequence[int | None], offsets: Sequence[Sequence[int]]) -> Offsets:
    return [(o[0], o[1]) if sequence == 1 else None for sequence, o in zip(sequences, offsets, strict=True)]
