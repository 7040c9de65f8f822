"""Benchmarks whose questions are about whole texts: stories, articles, meetings, papers."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.lay_summaries import load_lay_summaries
from eval.datasets.qmsum import load_qmsum
from eval.datasets.quality import load_quality
from eval.datasets.scinews import load_scinews
from eval.errors import DataError
from tests.eval.datasets.official import changed, entries_of, gold_texts
from tests.eval.helpers import FIXTURES

QUALITY = load_quality(FIXTURES / "quality" / "QuALITY.part.htmlstripped.dev")
QMSUM = load_qmsum(FIXTURES / "qmsum" / "test.jsonl")
LAY = load_lay_summaries(FIXTURES / "lay_summaries" / "test.json")
PAPERS = FIXTURES / "scinews" / "test.json"


def test_the_two_lines_of_an_article_share_its_document() -> None:
    assert {doc: document.text for doc, document in QUALITY.documents.items()} == {
        "100": "# The Red Moon\n\nThe moon was red.\nIt rose.",
        "200": "No title here.",
    }
    assert [(sample.id, sample.documents) for sample in QUALITY.samples] == [
        ("100_A_1", ("100",)),
        ("100_A_2", ("100",)),
        ("100_B_1", ("100",)),
        ("200_A_1", ("200",)),
    ]


def test_options_stand_in_the_instruction_and_not_in_the_query() -> None:
    sample = QUALITY.samples[0]
    assert sample.query == "Question 100_A_1?"
    assert sample.options == ("Red", "Green", "Blue", "None of these")
    assert sample.instruction.endswith("\n(a) Red\n(b) Green\n(c) Blue\n(d) None of these")
    assert "letter in parentheses" in sample.instruction


def test_correct_counts_from_zero_and_difficult_is_a_stratum_only_where_the_file_has_it() -> None:
    assert [(sample.correct, sample.strata) for sample in QUALITY.samples] == [
        (0, {"difficult": "1"}),
        (3, {"difficult": "0"}),
        (1, {}),
        (2, {}),
    ]


def test_a_meeting_becomes_one_paragraph_per_turn_without_the_blank_ones() -> None:
    document = QMSUM.documents["test-1"]
    assert document.text == (
        "# Meeting 1\n\nChair: We start with the pump.\n\nAna: It costs 90 euros. {vocalsound}\n\n"
        "Chair: Then we buy it.\n\nAna: Good."
    )
    assert [part.of(document.text) for part in document.parts] == document.text.split("\n\n")[1:]


def test_queries_keep_the_official_order_specific_before_general() -> None:
    samples = QMSUM.samples
    assert [(sample.id, sample.strata["kind"], sample.documents) for sample in samples] == [
        ("test-1-s1", "specific", ("test-1",)),
        ("test-1-s2", "specific", ("test-1",)),
        ("test-1-s3", "specific", ("test-1",)),
        ("test-1-g1", "general", ("test-1",)),
        ("test-2-s1", "specific", ("test-2",)),
    ]
    assert samples[0].query == "What does the pump cost?"
    assert samples[0].references == ("Ana said it costs 90 euros.",)
    assert "few sentences" in samples[0].instruction


def test_gold_spans_count_turns_inclusively_and_skip_blank_turns() -> None:
    by_id = {sample.id: gold_texts(QMSUM, sample) for sample in QMSUM.samples}
    assert by_id == {
        "test-1-s1": [("turns 1-2", ["Ana: It costs 90 euros. {vocalsound}"])],
        "test-1-s2": [
            ("turns 0-0", ["Chair: We start with the pump."]),
            ("turns 3-4", ["Chair: Then we buy it.\n\nAna: Good."]),
        ],
        "test-1-s3": [],
        "test-1-g1": [],
        "test-2-s1": [("turns 0-1", ["Chair: Where is Cleo?\n\nCleo: Sorry, the tram."])],
    }
    assert QMSUM.dropped == {"gold span of blank turns only": 1, "gold span outside the meeting": 1}


def test_each_paper_is_one_question_about_its_own_document() -> None:
    assert [sample.documents for sample in LAY.samples] == [(sample.id,) for sample in LAY.samples]
    assert list(LAY.documents) == ["10.9999/lay.0001", "10.9999/lay.0002", "10.9999/lay.0003"]
    assert LAY.samples[1].query == (
        'What does the study "Three Hummed Notes Guide Foraging in a Burrowing Bee" find, and why does it matter?'
    )
    assert LAY.samples[1].strata == {"source": "eLife"}


def test_the_summary_is_the_reference_with_its_paragraphs() -> None:
    [reference] = LAY.samples[0].references
    assert reference.startswith("Street lamps shine on plants")
    assert "held more food.\n\nIt seems that light" in reference


def test_a_document_has_title_and_sections_but_neither_abstract_nor_empty_sections() -> None:
    text = LAY.documents["10.9999/lay.0001"].text
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
