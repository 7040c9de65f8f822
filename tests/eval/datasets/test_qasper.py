from pathlib import Path

from eval.datasets.qasper import load_qasper
from eval.sample import Benchmark
from tests.eval.datasets.official import changed, entries_of

BENCHMARK = load_qasper(Path(__file__).parents[1] / "fixtures/qasper/qasper-sample-v0.3.json")


def gold_of(benchmark: Benchmark, sample_id: str) -> list[tuple[int, str, list[str]]]:
    sample = next(sample for sample in benchmark.samples if sample.id == sample_id)
    return [
        (gold.annotator, gold.label, [place.span.of(benchmark.documents[place.doc].text) for place in gold.anywhere])
        for gold in sample.gold
    ]


def test_nested_sections_get_deeper_headings_and_paragraphs_and_the_abstract_are_the_parts() -> None:
    document = BENCHMARK.documents["0001.00001"]
    assert document.title == "Sorting Letters"
    assert document.text == "\n\n".join(
        [
            "# Sorting Letters",
            "## Abstract",
            "We sort old letters by author.",
            "## Introduction",
            "Letters are long.",
            "Letters are old.",
            "## Data",
            "### Sources",
            "We collect 300 letters. Each has one author.",
            "### Labels",
            "Two clerks label them.",
            "Two clerks label them.",
            "Thanks to all.",
        ]
    )
    document = BENCHMARK.documents["0001.00001"]
    assert [part.of(document.text) for part in document.parts] == [
        "We sort old letters by author.",
        "Letters are long.",
        "Letters are old.",
        "We collect 300 letters. Each has one author.",
        "Two clerks label them.",
        "Two clerks label them.",
        "Thanks to all.",
    ]
    assert BENCHMARK.documents["0001.00002"].text == "# Folding Maps\n\nMaps fold."


def test_references_are_the_official_answer_strings_and_most_annotators_say_whether_there_is_an_answer() -> None:
    assert {sample.id: (sample.references, sample.answerable) for sample in BENCHMARK.samples} == {
        "q1": (("300 letters, one author", "300"), True),
        "q2": (("Yes", "No", "Unanswerable"), True),
        "q3": (("Unanswerable", "Unanswerable", "Nothing"), False),
        "q4": (("Maps",), True),
    }


def test_evidence_is_whole_paragraphs_and_highlights_are_every_occurrence_of_their_text() -> None:
    assert gold_of(BENCHMARK, "q1") == [
        (0, "evidence", ["We collect 300 letters. Each has one author."]),
        (0, "highlight", ["We collect 300 letters."]),
        (1, "evidence", ["Letters are long."]),
        (1, "highlight", ["Letters are", "Letters are"]),
    ]


def test_a_paragraph_that_stands_twice_will_do_at_either_place() -> None:
    assert gold_of(BENCHMARK, "q2") == [(0, "evidence", ["Two clerks label them.", "Two clerks label them."])]
    places = BENCHMARK.samples[1].gold[0].anywhere
    assert [place.span for place in places] == list(BENCHMARK.documents["0001.00001"].parts[4:6])


def test_evidence_without_a_place_is_counted_by_reason() -> None:
    assert BENCHMARK.dropped == {
        "evidence in a figure or table": 1,
        "highlight in a figure or table": 1,
        "highlight not found in the paper": 1,
        "evidence not found in the paper": 1,
    }


def test_papers_with_equal_text_are_one_document(tmp_path: Path) -> None:
    papers, _ = entries_of("qasper")
    second = papers["0001.00002"]
    again = {**second, "qas": [{**second["qas"][0], "question_id": "q5"}]}
    benchmark = load_qasper(changed("qasper", tmp_path, ["0001.00003"], again))
    assert set(benchmark.documents) == {"0001.00001", "0001.00002"}
    assert benchmark.samples[-1].documents == ("0001.00002",)
