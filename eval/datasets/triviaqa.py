"""TriviaQA (Joshi et al. 2017) in FlashRAG's form, with passages that retrieval brought for each question."""

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, Field

from eval.datasets.asqa import Passages, answer_places
from eval.datasets.reading import read_lines, unique
from eval.sample import Benchmark, Gold, Sample

_INSTRUCTION = "Answer with a name, a number or a short phrase, not with a sentence."
_NO_PASSAGE = "questions whose answer is in none of their passages"


class _Passage(BaseModel):
    id: str = Field(min_length=1)
    title: str
    text: str


class _Question(BaseModel):
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    golden_answers: tuple[str, ...] = Field(min_length=1)
    docs: tuple[_Passage, ...]


def load_triviaqa(path: Path) -> Benchmark:
    """Questions over the passages of all of them; a question's evidence is wherever an alias stands in its own.

    Args:
        path: Lines of ``{id, question, golden_answers, docs: [{id, title, text}]}``; FlashRAG's own lines have no docs.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, lacks a field or repeats an id; names the line.
    """
    passages = Passages()
    dropped: Counter[str] = Counter()
    samples: list[Sample] = []
    for place, question in read_lines(_Question, path):
        own = dict.fromkeys(passages.add(p.id, p.title, p.text, place) for p in question.docs if p.text.strip())
        answers = question.golden_answers
        places = answer_places([passages.documents[one] for one in own], answers)
        dropped[_NO_PASSAGE] += not places
        samples.append(
            Sample(
                id=question.id,
                query=question.question,
                instruction=_INSTRUCTION,
                documents=tuple(own),
                short_answers=(answers,),
                gold=(Gold(label=answers[0], anywhere=places),) if places else (),
            )
        )
    return Benchmark(
        name="triviaqa", documents=passages.documents, samples=unique(samples, path), dropped=dict(+dropped)
    )
