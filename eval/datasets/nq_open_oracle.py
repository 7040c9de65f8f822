"""NQ-open with each question's gold Wikipedia paragraph (Liu et al. 2023, "Lost in the Middle")."""

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, Field

from discorag.schema.values import Span
from eval.datasets.asqa import Passages, answer_places
from eval.datasets.reading import normal, read_lines, unique
from eval.errors import DataError
from eval.sample import Benchmark, DocSpan, Gold, Sample

_INSTRUCTION = "Answer with a name, a number or a short phrase, not with a sentence."
_NO_ANSWER = "questions whose answer is not in the gold paragraph"


class _Context(BaseModel):
    title: str
    text: str
    isgold: bool


class _Question(BaseModel):
    question: str = Field(min_length=1)
    answers: tuple[str, ...] = Field(min_length=1)
    ctxs: tuple[_Context, ...]


def load_nq_open_oracle(path: Path) -> Benchmark:
    """Questions over the pool of all gold paragraphs; ids are ``nq-`` and the zero-based place in the file.

    A question's evidence is wherever an accepted answer stands in its gold paragraph, or the whole paragraph.

    Args:
        path: Lines of ``{question, answers, ctxs: [{title, text, isgold}]}``.

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, lacks a field or has no gold paragraph; names the line.
    """
    passages = Passages()
    dropped: Counter[str] = Counter()
    samples: list[Sample] = []
    for number, (place, question) in enumerate(read_lines(_Question, path)):
        samples.append(_sample(f"nq-{number}", question, passages, place, dropped))
    return Benchmark(
        name="nq_open_oracle", documents=passages.documents, samples=unique(samples, path), dropped=dict(dropped)
    )


def _sample(sample_id: str, question: _Question, passages: Passages, place: str, dropped: Counter[str]) -> Sample:
    paragraph = next((context for context in question.ctxs if context.isgold), None)
    if paragraph is None:
        raise DataError(f"{place}: ctxs: no paragraph has isgold.", hint="Is the file in the dataset's oracle format?")
    document = passages.documents[passages.add(sample_id, paragraph.title, paragraph.text, place)]
    places = answer_places([document], question.answers)
    if not places:
        dropped[_NO_ANSWER] += 1
        end = len(document.text)
        places = (DocSpan(doc=document.id, span=Span(start=end - len(normal(paragraph.text)), end=end)),)
    return Sample(
        id=sample_id,
        query=question.question,
        instruction=_INSTRUCTION,
        documents=(document.id,),
        short_answers=(question.answers,),
        gold=(Gold(label=document.title, anywhere=places),),
    )
