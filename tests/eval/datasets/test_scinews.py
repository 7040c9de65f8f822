import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discorag.types.errors import ConfigError, MissingPathError
from eval.datasets.scinews import load_scinews
from eval.errors import DataError

PAPERS = Path(__file__).parents[1] / "fixtures" / "scinews" / "test.json"


def changed(folder: Path, change: Callable[[Any], None]) -> Path:
    value = json.loads(PAPERS.read_text(encoding="utf-8"))
    change(value)
    path = folder / "test.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


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


def test_the_headline_is_in_no_document() -> None:
    benchmark = load_scinews(PAPERS)
    assert not any("Lonely bees" in document.text for document in benchmark.documents.values())


def rename(papers: Any) -> None:
    for paper in papers:
        paper["Body"] = paper.pop("Paper_Body")


def test_a_renamed_field_is_named_and_read_under_its_given_name(tmp_path: Path) -> None:
    path = changed(tmp_path, rename)
    with pytest.raises(DataError, match=r"test\.json: entry 0: Paper_Body"):
        load_scinews(path)
    assert load_scinews(path, {"paper": "Body"}) == load_scinews(PAPERS)


def test_a_name_for_something_that_is_not_read_is_refused() -> None:
    with pytest.raises(ConfigError, match="'headline' is not read"):
        load_scinews(PAPERS, {"headline": "News_Title"})


def repeat(papers: Any) -> None:
    papers[1]["DOI"] = papers[0]["DOI"]


def blank(papers: Any) -> None:
    papers[1]["News_Body"] = " "


@pytest.mark.parametrize(
    ("change", "said"), [(repeat, r"id 10\.9999/lay\.0001 appears twice"), (blank, "entry 1: News_Body")]
)
def test_a_bad_entry_is_named(tmp_path: Path, change: Callable[[Any], None], said: str) -> None:
    with pytest.raises(DataError, match=said):
        load_scinews(changed(tmp_path, change))


def test_a_cut_or_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    with pytest.raises(MissingPathError, match=r"test\.json"):
        load_scinews(path)
    path.write_text(PAPERS.read_text(encoding="utf-8")[:300], encoding="utf-8")
    with pytest.raises(DataError, match=r"test\.json:\d+: "):
        load_scinews(path)
