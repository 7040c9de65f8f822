from pathlib import Path

from eval.datasets.quality import load_quality

BENCHMARK = load_quality(Path(__file__).parents[1] / "fixtures" / "quality" / "QuALITY.part.htmlstripped.dev")


def test_the_two_lines_of_an_article_share_its_document() -> None:
    assert {doc: document.text for doc, document in BENCHMARK.documents.items()} == {
        "100": "# The Red Moon\n\nThe moon was red.\nIt rose.",
        "200": "No title here.",
    }
    assert [(sample.id, sample.documents) for sample in BENCHMARK.samples] == [
        ("100_A_1", ("100",)),
        ("100_A_2", ("100",)),
        ("100_B_1", ("100",)),
        ("200_A_1", ("200",)),
    ]


def test_options_stand_in_the_instruction_and_not_in_the_query() -> None:
    sample = BENCHMARK.samples[0]
    assert sample.query == "Question 100_A_1?"
    assert sample.options == ("Red", "Green", "Blue", "None of these")
    assert sample.instruction.endswith("\n(a) Red\n(b) Green\n(c) Blue\n(d) None of these")
    assert "letter in parentheses" in sample.instruction


def test_correct_counts_from_zero_and_difficult_is_a_stratum_only_where_the_file_has_it() -> None:
    assert [(sample.correct, sample.strata) for sample in BENCHMARK.samples] == [
        (0, {"difficult": "1"}),
        (3, {"difficult": "0"}),
        (1, {}),
        (2, {}),
    ]
