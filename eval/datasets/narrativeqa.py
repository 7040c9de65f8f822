"""NarrativeQA (Kočiský et al. 2018): questions about whole books and film scripts, in LongBench's form."""

from pathlib import Path

from pydantic import BaseModel, Field

from eval.datasets.reading import normal, read_lines, unique
from eval.errors import DataError
from eval.sample import Benchmark, Sample, SourceDocument

_INSTRUCTION = "Answer in a few words or one short sentence."


class _Question(BaseModel):
    id: str = Field(alias="_id", min_length=1)
    input: str = Field(min_length=1)
    context: str
    answers: tuple[str, ...] = Field(min_length=1)


def load_narrativeqa(path: Path) -> Benchmark:
    """Each question over its own story; questions about the same story share it. No evidence is labelled.

    Args:
        path: Lines of ``{_id, input, context, answers}``: question, story, references (two officially, one here).

    Raises:
        MissingPathError: No such file.
        DataError: A line is cut off, lacks a field, has an empty story or repeats an id; names the line.
    """
    stories: dict[str, SourceDocument] = {}
    samples: list[Sample] = []
    for place, question in read_lines(_Question, path):
        text = normal(question.context)
        if not text:
            raise DataError(f"{place}: context: empty.", hint="Fetch the official file again.")
        name = f"story-{len(stories) + 1}"
        story = stories.setdefault(text, SourceDocument(id=name, title=name, text=text))
        samples.append(_sample(question, story))
    documents = {story.id: story for story in stories.values()}
    return Benchmark(name="narrativeqa", documents=documents, samples=unique(samples, path))


def _sample(question: _Question, story: SourceDocument) -> Sample:
    answers = tuple(said for answer in question.answers if (said := answer.strip()))
    return Sample(
        id=question.id,
        query=question.input,
        instruction=_INSTRUCTION,
        documents=(story.id,),
        references=answers,
        short_answers=(answers,),
    )
