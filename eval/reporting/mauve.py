"""MAUVE (Pillutla et al. 2021): how near the texts of a system are to those of people, as a whole; not by question."""

import importlib
import string
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eval.errors import MetricUnavailableError
from eval.running.record import Record
from eval.sample import Sample

_WORDS, _TOKENS = 100, 512


def mauve_of(records: Sequence[Record], samples: Sequence[Sample], model: Path) -> dict[str, float]:
    """System -> MAUVE, 0 to 100, over its answers to the questions that have a reference.

    As in ALCE (Gao et al. 2023): the question precedes both texts, the text by people is the first reference, and
    100 words of each count.

    Args:
        records: The records of one run.
        samples: Its questions.
        model: Folder of the model that gives the features, gpt2-large in ALCE; the package wants gpt2 in its name.

    Raises:
        MetricUnavailableError: The package, which is under the GPL and no dependency of ours, is not installed.
    """
    if not find_spec("mauve"):
        raise MetricUnavailableError("MAUVE needs the package mauve-text.", hint="pip install mauve-text")
    library: Any = importlib.import_module("mauve")
    references = {s.id: (s.query, s.references[0]) for s in samples if s.references}
    found: dict[str, float] = {}
    for system in dict.fromkeys(record.system for record in records):
        answers = [(*references[r.sample], r.answer) for r in records if r.system == system and r.sample in references]
        people = [_beginning(question, reference) for question, reference, _ in answers]
        ours = [_beginning(question, answer) for question, _, answer in answers]
        score = library.compute_mauve(
            p_text=people, q_text=ours, featurize_model_name=str(model), max_text_length=_TOKENS
        )
        found[system] = 100 * float(score.mauve)
    return found


def _beginning(question: str, text: str) -> str:
    return " ".join(f"{question} {text}".split()[:_WORDS]).rstrip(string.punctuation)
