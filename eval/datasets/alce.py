"""QAMPARI (Amouyal et al. 2023) and ELI5 (Fan et al. 2019) in ALCE's form: questions with retrieved passages."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, Field

from eval.datasets.asqa import Passages, answer_places
from eval.datasets.reading import read_json, unique
from eval.errors import DataError
from eval.sample import Benchmark, Gold, Sample

_LIST = "Name all answers, separated by commas, and write nothing else."
_EXPLAIN = "Explain it in one paragraph for somebody who knows nothing about it."
_NO_PASSAGE = "answers that are in none of their question's passages"

E = TypeVar("E", bound="_Entry")


class _Passage(BaseModel):
    title: str
    text: str


class _Entry(BaseModel):
    question: str = Field(min_length=1)
    docs: tuple[_Passage, ...] = ()


class _ListEntry(_Entry):
    id: str = Field(min_length=1)
    answers: tuple[tuple[str, ...], ...] = Field(min_length=1)


class _ClaimsEntry(_Entry):
    answer: str
    claims: tuple[str, ...] = Field(min_length=1)


def load_qampari(path: Path) -> Benchmark:
    """Questions with many answers over the passages of all questions; evidence is wherever an alias stands.

    Args:
        path: List of ``{id, question, answers: [[alias]], docs: [{title, text}]}`` (``qampari_eval_gtr_top100.json``).

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, a field is missing, an id repeats, or there are no passages.
    """
    passages, dropped = Passages(), Counter[str]()
    samples: list[Sample] = []
    for entry in _with_passages(read_json(tuple[_ListEntry, ...], path), path):
        own = _add(passages, entry, entry.id, path)
        documents = [passages.documents[one] for one in own]
        found = [(aliases[0], answer_places(documents, aliases)) for aliases in entry.answers if aliases]
        gold = tuple(Gold(label=label, anywhere=places) for label, places in found if places)
        dropped[_NO_PASSAGE] += len(entry.answers) - len(gold)
        samples.append(
            Sample(
                id=entry.id,
                query=entry.question,
                instruction=_LIST,
                documents=own,
                short_answers=entry.answers,
                gold=gold,
            )
        )
    return Benchmark(
        name="qampari", documents=passages.documents, samples=unique(samples, path), dropped=dict(+dropped)
    )


def load_eli5(path: Path) -> Benchmark:
    """Questions of Reddit with three claims each, over the passages of all questions; no evidence is labelled.

    Args:
        path: List of ``{question, answer, claims, docs: [{title, text}]}`` (``eli5_eval_bm25_top100.json``). Ids are
            ``eli5-`` and the zero-based place in the file.

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, a field is missing, or there are no passages.
    """
    passages = Passages()
    samples: list[Sample] = []
    for number, entry in enumerate(_with_passages(read_json(tuple[_ClaimsEntry, ...], path), path)):
        name = f"eli5-{number}"
        samples.append(
            Sample(
                id=name,
                query=entry.question,
                instruction=_EXPLAIN,
                documents=_add(passages, entry, name, path),
                references=(entry.answer,) if entry.answer.strip() else (),
                claims=entry.claims,
            )
        )
    return Benchmark(name="eli5", documents=passages.documents, samples=tuple(samples))


def _with_passages(entries: Sequence[E], path: Path) -> Sequence[E]:
    if not any(entry.docs for entry in entries):
        raise DataError(
            f"{path}: no entry has docs.", hint="Name ALCE's file with retrieved passages, not one without."
        )
    return entries


def _add(passages: Passages, entry: _Entry, name: str, path: Path) -> tuple[str, ...]:
    """The ids of an entry's passages; equal passages of other entries share theirs."""
    place = f"{path}: {name}"
    whole = [(number, doc) for number, doc in enumerate(entry.docs) if doc.text.strip()]
    return tuple(dict.fromkeys(passages.add(f"{name}-{n}", doc.title, doc.text, place) for n, doc in whole))
