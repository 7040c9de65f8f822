from pathlib import Path

from eval.datasets.lay_summaries import load_lay_summaries

BENCHMARK = load_lay_summaries(Path(__file__).parents[1] / "fixtures" / "lay_summaries" / "test.json")


def test_each_paper_is_one_question_about_its_own_document() -> None:
    assert [sample.documents for sample in BENCHMARK.samples] == [(sample.id,) for sample in BENCHMARK.samples]
    assert list(BENCHMARK.documents) == ["10.9999/lay.0001", "10.9999/lay.0002", "10.9999/lay.0003"]
    assert BENCHMARK.samples[1].query == (
        'What does the study "Three Hummed Notes Guide Foraging in a Burrowing Bee" find, and why does it matter?'
    )
    assert BENCHMARK.samples[1].strata == {"source": "eLife"}


def test_the_summary_is_the_reference_with_its_paragraphs() -> None:
    [reference] = BENCHMARK.samples[0].references
    assert reference.startswith("Street lamps shine on plants")
    assert "held more food.\n\nIt seems that light" in reference


def test_a_document_has_title_and_sections_but_neither_abstract_nor_empty_sections() -> None:
    text = BENCHMARK.documents["10.9999/lay.0001"].text
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
