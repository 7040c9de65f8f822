"""SciNews (Pu et al. 2024): scientific papers with news reports about them."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from eval.datasets.lay_summaries import study_query
from eval.datasets.reading import TextBuilder, normal, read_json
from eval.errors import DataError
from eval.sample import Benchmark, Sample, SourceDocument

_INSTRUCTION = (
    "Write a news report about the study in several paragraphs, for readers without background in the field: "
    "what was asked, how it was studied, what was found, and why it matters."
)
_Text = Annotated[str, AfterValidator(normal), Field(min_length=1)]


class _Entry(BaseModel):
    id: _Text = Field(alias="DOI")
    title: _Text = Field(alias="Citation")
    paper: _Text = Field(alias="Paper_Body")
    news: _Text = Field(alias="News_Body")
    topic: _Text = Field(alias="Topic")


def load_scinews(path: Path) -> Benchmark:
    """One question for each paper: the news report about it.

    Papers are named by their citation: the file has no paper titles, and the report's headline gives the news away. An
    entry that lacks a value, or whose id came before, is left out and counted.

    Raises:
        MissingPathError: No such file.
        DataError: The file is cut off, or no entry is whole.
    """
    dropped: Counter[str] = Counter()
    entries: dict[str, _Entry] = {}
    for row in read_json(tuple[dict[str, Any], ...], path):
        try:
            entry = _Entry.model_validate(row)
        except ValidationError as error:
            dropped[f"entries without {error.errors()[0]['loc'][0]}"] += 1
            continue
        if entries.setdefault(entry.id, entry) is not entry:
            dropped["entries whose DOI came before"] += 1
    if not entries:
        raise DataError(f"{path}: {'; '.join(dropped)}.", hint="Is the file in the dataset's official format?")
    documents = {entry.id: _document(entry) for entry in entries.values()}
    samples = tuple(map(_sample, entries.values()))
    return Benchmark(name="scinews", documents=documents, samples=samples, dropped=dict(dropped))


def _sample(entry: _Entry) -> Sample:
    return Sample(
        id=entry.id,
        query=study_query(entry.title),
        instruction=_INSTRUCTION,
        documents=(entry.id,),
        references=(entry.news,),
        strata={"topic": entry.topic},
    )


def _document(entry: _Entry) -> SourceDocument:
    builder = TextBuilder()
    builder.add(f"# {entry.title}")
    builder.add(entry.paper)
    return builder.document(entry.id, entry.title)
