"""RAMDocs (Wang et al. 2025): things of one name, over documents that are right, have a planted value, or are noise."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from discorag.schema.values import digest
from eval.datasets.asqa import answer_places
from eval.datasets.reading import TextBuilder, read_lines
from eval.metrics.normal import normalise
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

_INSTRUCTION = "The documents may be about several things of this name. Name each of them and give its answer."


class _Document(BaseModel):
    text: str = Field(pattern=r"\S")
    type: Literal["correct", "misinfo", "noise"]
    answer: str


class _Line(BaseModel):
    question: str = Field(pattern=r"\S")
    documents: list[_Document] = Field(min_length=1)
    gold_answers: list[str] = Field(min_length=1)
    wrong_answers: list[str]


def load_ramdocs(path: Path) -> Benchmark:
    """The questions with all that is right as ``short_answers``, and the planted values as ``wrong_answers``.

    Each right value is a piece of gold evidence: wherever it stands in a document of the question that is right about
    it. A planted value that is also right is left out.

    Args:
        path: JSON lines of ``{question, documents: [{text, type, answer}], gold_answers, wrong_answers}``.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off or lacks a field; names the line.
    """
    documents, samples, dropped = dict[str, SourceDocument](), list[Sample](), Counter[str]()
    for _, line in read_lines(_Line, path):
        gold, ids = defaultdict[str, list[DocSpan]](list), list[str]()
        for found in line.documents:
            document = _document(found.text)
            documents[document.id] = document
            ids.append(document.id)
            if found.type == "correct" and found.answer in line.gold_answers:
                gold[found.answer] += answer_places([document], [found.answer])
        right, planted = _each_once(line.gold_answers), _each_once(line.wrong_answers)
        wrong = {key: value for key, value in planted.items() if key not in right}
        dropped["planted values that are also right"] += len(planted) - len(wrong)
        samples.append(
            Sample(
                id=f"{len(samples):03}",
                query=line.question,
                instruction=_INSTRUCTION,
                documents=tuple(dict.fromkeys(ids)),
                short_answers=tuple((value,) for value in right.values()),
                wrong_answers=tuple(wrong.values()),
                gold=tuple(Gold(label=name, anywhere=tuple(places)) for name, places in gold.items() if places),
                strata={"names": str(len(right)), "planted": "yes" if wrong else "no"},
            )
        )
    return Benchmark(name="ramdocs", documents=documents, samples=tuple(samples), dropped=dict(+dropped))


def _each_once(values: Iterable[str]) -> dict[str, str]:
    """The values by what is left of them once normalised, in their order."""
    found: dict[str, str] = {}
    for value in values:
        found.setdefault(normalise(value), value)
    return found


def _document(text: str) -> SourceDocument:
    builder, name = TextBuilder(), f"ramdocs-{digest(text)[:12]}"
    builder.add(text)
    return builder.document(name, name)
