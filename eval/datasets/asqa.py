"""ASQA (Stelmakh et al. 2022): ambiguous questions with long answers; in ALCE's form, with retrieved passages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span
from eval.datasets.reading import TextBuilder, checked, read_json, unique
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample, SourceDocument

_INSTRUCTION = (
    "The question can be read in several ways. Answer in one paragraph that names each reading and gives its answer."
)
_NO_PASSAGE = "pairs whose answer is in no passage"
_ARTICLES = ("a", "an", "the")


class _Pair(BaseModel):
    question: str
    short_answers: tuple[str, ...] = Field(min_length=1)


class _Passage(BaseModel):
    id: str = Field(min_length=1)
    title: str
    text: str


class _LongAnswer(BaseModel):
    long_answer: str


class _Entry(BaseModel):
    sample_id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    qa_pairs: tuple[_Pair, ...] = Field(min_length=1)
    annotations: tuple[_LongAnswer, ...] = Field(min_length=1)
    docs: tuple[_Passage, ...]


class Passages:
    """A corpus of titled passages: ``# title``, a blank line, the passage. Equal texts share the first one's id."""

    def __init__(self) -> None:
        self.documents: dict[str, SourceDocument] = {}
        self._ids: dict[str, str] = {}

    def add(self, passage_id: str, title: str, text: str, place: str) -> str:
        """The id under which the passage is kept.

        Raises:
            DataError: The passage is blank, or the id already belongs to another text; names ``place`` and id.
        """
        builder = TextBuilder()
        if title.strip():
            builder.add(f"# {title.strip()}")
        if builder.add(text) is None:
            raise DataError(f"{place}: text of passage {passage_id} is empty.", hint="Fetch the official file again.")
        document = builder.document(passage_id, title.strip())
        kept = self._ids.setdefault(document.text, passage_id)
        if self.documents.setdefault(kept, document).text != document.text:
            raise DataError(f"{place}: passage id {passage_id} stands for two texts.", hint="Remove one of them.")
        return kept


def answer_places(documents: Iterable[SourceDocument], answers: Sequence[str]) -> tuple[DocSpan, ...]:
    """Where any of the answers stands in the documents as whole words, titles included.

    As in ASQA's normalisation, case, punctuation between words and articles do not count.
    """
    alternatives = [words for answer in answers if (words := _words_pattern(answer))]
    if not alternatives:
        return ()
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)
    return tuple(
        DocSpan(doc=document.id, span=Span(start=match.start(), end=match.end()))
        for document in documents
        for match in pattern.finditer(document.text)
    )


def _words_pattern(answer: str) -> str:
    words: list[str] = re.findall(r"\w+", answer)
    content = [word for word in words if word.lower() not in _ARTICLES] or words
    return rf"\W+(?:(?:{'|'.join(_ARTICLES)})\W+)*".join(re.escape(word) for word in content)


def load_asqa_pooled(path: Path) -> Benchmark:
    """ASQA questions in ALCE's form with retrieved passages; the corpus is all passages of all questions.

    Evidence is labelled by string: a pair's evidence is wherever one of its short answers stands in the question's own
    passages, which may not hold it.

    Args:
        path: List of ``{sample_id, question, qa_pairs, annotations, docs: [{id, title, text}]}``.

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, a field is missing, or an id repeats; names file, entry and field.
    """
    passages, dropped = Passages(), Counter[str]()
    samples: list[Sample] = []
    for entry in checked(tuple[_Entry, ...], read_json(path), str(path)):
        place = f"{path}: {entry.sample_id}"
        own = dict.fromkeys(passages.add(doc.id, doc.title, _body(doc), place) for doc in entry.docs)
        documents = [passages.documents[one] for one in own]
        found = [(pair.question, answer_places(documents, pair.short_answers)) for pair in entry.qa_pairs]
        gold = tuple(Gold(label=question, anywhere=places) for question, places in found if places)
        dropped[_NO_PASSAGE] += len(found) - len(gold)
        samples.append(
            Sample(
                id=entry.sample_id,
                query=entry.question,
                instruction=_INSTRUCTION,
                documents=tuple(own),
                references=tuple(annotation.long_answer for annotation in entry.annotations),
                short_answers=tuple(pair.short_answers for pair in entry.qa_pairs),
                disambiguated=tuple(pair.question for pair in entry.qa_pairs),
                gold=gold,
            )
        )
    return Benchmark(
        name="asqa_pooled", documents=passages.documents, samples=unique(samples, path), dropped=dict(+dropped)
    )


def _body(passage: _Passage) -> str:
    """The passage without the line of its title that retrieval dumps repeat, in quotes or not."""
    head, _, rest = passage.text.partition("\n")
    return rest if head.strip().strip('"') == passage.title and rest.strip() else passage.text
