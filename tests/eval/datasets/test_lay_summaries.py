import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discorag.schema.errors import MissingPathError
from eval.datasets.lay_summaries import load_lay_summaries
from eval.errors import DataError

PAPERS = Path(__file__).parents[1] / "fixtures" / "lay_summaries" / "test.json"


def changed(folder: Path, change: Callable[[Any], None]) -> Path:
    value = json.loads(PAPERS.read_text(encoding="utf-8"))
    change(value)
    path = folder / "test.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_each_paper_is_one_question_about_its_own_document() -> None:
    benchmark = load_lay_summaries(PAPERS)
    assert [sample.documents for sample in benchmark.samples] == [(sample.id,) for sample in benchmark.samples]
    assert list(benchmark.documents) == ["10.9999/lay.0001", "10.9999/lay.0002", "10.9999/lay.0003"]
    assert benchmark.samples[1].query == (
        'What does the study "Three Hummed Notes Guide Foraging in a Burrowing Bee" find, and why does it matter?'
    )
    assert benchmark.samples[1].strata == {"source": "eLife"}


def test_the_summary_is_the_reference_with_its_paragraphs() -> None:
    [reference] = load_lay_summaries(PAPERS).samples[0].references
    assert reference.startswith("Street lamps shine on plants")
    assert "held more food.\n\nIt seems that light" in reference


def test_a_document_has_title_and_sections_but_neither_abstract_nor_empty_sections() -> None:
    text = load_lay_summaries(PAPERS).documents["10.9999/lay.0001"].text
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == [
        "# Night Shading Slows Leaf Ageing in the Marsh Lily",
        "## Introduction",
        "## Results",
        "## Discussion",
        "## Methods",
    ]
    assert "## Results\n\nShaded leaves turned yellow nine days later" in text
    assert "Nymphaea" not in text  # only the abstract says it


def rename(papers: Any) -> None:
    papers[1]["lay"] = papers[1].pop("summary")


def repeat(papers: Any) -> None:
    papers.append(papers[0])


def lose_heading(papers: Any) -> None:
    papers[2]["headings"].pop()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (rename, r"test\.json: 1\.summary"),
        (repeat, r"id 10\.9999/lay\.0001 appears twice"),
        (lose_heading, r"lay\.0003: headings: 3 headings for 4 sections"),
    ],
)
def test_a_bad_entry_is_named(tmp_path: Path, change: Callable[[Any], None], said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_lay_summaries(changed(tmp_path, change))


def test_a_cut_or_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    with pytest.raises(MissingPathError, match=r"test\.json"):
        load_lay_summaries(path)
    path.write_text(PAPERS.read_text(encoding="utf-8")[:300], encoding="utf-8")
    with pytest.raises(DataError, match=r"test\.json:\d+: "):
        load_lay_summaries(path)
