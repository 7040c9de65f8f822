import json
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.scinews import load_scinews
from eval.errors import DataError
from tests.eval.datasets.official import changed, entries_of

PAPERS = Path(__file__).parents[1] / "fixtures" / "scinews" / "test.json"


def test_each_paper_is_asked_about_by_its_citation_and_answered_by_the_news_report() -> None:
    benchmark = load_scinews(PAPERS)
    sample = benchmark.samples[1]
    citation = "B. Sand et al. Three Hummed Notes Guide Foraging in a Burrowing Bee. Burrow Letters (2019)."
    assert sample.query == f'What does the study "{citation}" find, and why does it matter?'
    assert sample.references[0].startswith("Bees that live alone still tell")
    assert sample.documents == ("10.9999/lay.0002",)
    assert sample.strata == {"topic": "Ecology"}
    text = benchmark.documents["10.9999/lay.0002"].text
    assert text.startswith(f"# {citation}\n\nIntroduction\nBees that live in colonies")
    assert "Lonely bees" not in text  # the headline


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("DOI", "10.9999/lay.0001", "entries whose DOI came before"),
        ("DOI", None, "entries without DOI"),
        ("Topic", "", "entries without Topic"),
        ("News_Body", " ", "entries without News_Body"),
        ("Paper_Body", 7, "entries without Paper_Body"),
    ],
)
def test_an_entry_that_cannot_be_asked_is_left_out_and_counted(
    tmp_path: Path, field: str, value: Any, why: str
) -> None:
    benchmark = load_scinews(changed("scinews", tmp_path, [1, field], value))
    assert [sample.id for sample in benchmark.samples] == ["10.9999/lay.0001"] == list(benchmark.documents)
    assert benchmark.dropped == {why: 1}


def test_a_file_with_other_fields_is_refused(tmp_path: Path) -> None:
    papers, _ = entries_of("scinews")
    file = tmp_path / "test.json"
    file.write_text(json.dumps([{**paper, "Paper_Body": None} for paper in papers]), "utf-8")
    with pytest.raises(DataError, match=r"test\.json: entries without Paper_Body"):
        load_scinews(file)
